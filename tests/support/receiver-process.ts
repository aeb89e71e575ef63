import { setPriority } from 'node:os'
import { startReceiver, type ReceiverMode } from '../../packages/adapters-webhooks/testing/receiver.ts'

// A receiver has a machine of its own: here it takes no processor time from those who push.
setPriority(10)

const receiver = await startReceiver({ onRequest: () => process.send?.('request') })
process.on('message', (mode: ReceiverMode) => {
  receiver.mode = mode
  process.send?.('changed')
})
process.on('disconnect', () => process.exit())
process.send?.(receiver.url)
