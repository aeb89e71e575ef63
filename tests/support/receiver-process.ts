import { setPriority } from 'node:os'
import { startReceiver, type ReceiverMode } from '../../packages/adapters-webhooks/testing/receiver.ts'

// A real receiver runs on a machine of its own. This one has a low priority, so that it takes no processor time from
// the pushing processes.
setPriority(10)

const receiver = await startReceiver({ onRequest: () => process.send?.('request') })
process.on('message', (mode: ReceiverMode) => {
  receiver.mode = mode
  process.send?.('changed')
})
process.on('disconnect', () => process.exit())
process.send?.(receiver.url)
