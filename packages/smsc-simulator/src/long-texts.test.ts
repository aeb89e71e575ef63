import { smppCarrierFromUrl } from '@gateway/adapters-smpp'
import { createDispatcher, instant, type Dispatcher, type Lane, type MessageId } from '@gateway/core'
import { anAccount, anOrder, aNumber, memoryPorts, until } from '@gateway/core/testing'
import type { SmscSettings } from './settings.ts'
import type { Smsc } from './smsc.ts'
import { startSmsc } from './start-smsc.ts'

type Ports = ReturnType<typeof memoryPorts>
interface Started {
  readonly dispatcher: Dispatcher
  end(): Promise<void>
}

const started: Started[] = []
const smscs: Smsc[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.end()))
  await Promise.all(smscs.splice(0).map((smsc) => smsc.close()))
})

/** A dispatcher of the carrier at this server, as a process has it. `end` is what kill -9 does to it. */
function dispatching(ports: Ports, smsc: Smsc): Started {
  const problems: string[] = []
  const report = (problem: unknown): void => void problems.push(String(problem))
  const url = `smpp://us:secret@127.0.0.1:${smsc.port}?reconnectSecondsMax=1`
  const carrier = smppCarrierFromUrl(url, { id: 'test', report })
  const dispatcher = createDispatcher(ports, carrier, report)
  let hasEnded = false
  const isEnded = (): boolean => hasEnded
  const work = async (lane: Lane): Promise<void> => {
    while (!isEnded()) {
      if ((await dispatcher.work(lane)) === 'nothing') await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  void work('single')
  const ticking = setInterval(() => dispatcher.retry(), 20)
  const one = {
    dispatcher,
    end: async (): Promise<void> => {
      hasEnded = true
      clearInterval(ticking)
      await carrier.close(Promise.resolve())
    },
  }
  started.push(one)
  return one
}

async function aServer(settings: SmscSettings = {}) {
  const smsc = await startSmsc({ retryMilliseconds: 20, ...settings })
  smscs.push(smsc)
  return smsc
}

async function aSender() {
  const ports = memoryPorts()
  const { id } = await anAccount(ports, { credits: 100_000 })
  return {
    ports,
    /** A text of three parts. */
    send: async (number: string): Promise<MessageId> => {
      const accepted = await ports.messages.accept(anOrder(id, { to: [aNumber(number)], text: 'a'.repeat(400) }))
      const ids = typeof accepted === 'object' ? accepted.results.flat() : []
      return ids[0] as MessageId
    },
    code: async (message: MessageId) => {
      const [status] = await ports.messages.status(id, [message], instant(0))
      return typeof status === 'object' ? status.code : status
    },
  }
}

test.each([
  ['delivered', '27825550100', 0],
  ['not delivered', '27825550190', 103],
])('a text of three parts is %s once its receipts came', async (_, number, code) => {
  const { ports, send, code: codeOf } = await aSender()
  dispatching(ports, await aServer({ changes: { receiptDelay: 5 } }))
  const message = await send(number)
  await until(async () => (await codeOf(message)) === code)
})

test('the receipts of all parts find their message after a restart, over another dispatcher', async () => {
  const { ports, send, code } = await aSender()
  const smsc = await aServer({ personality: 'late' })
  const first = dispatching(ports, smsc)
  const message = await send('27825550100')
  await until(async () => (await code(message)) === 100)
  const ids = smsc.journal().flatMap(({ pdu }) => (pdu?.command === 'submit_sm_resp' ? [pdu.messageId] : []))
  expect(new Set(ids).size).toBe(3)
  await first.end()

  dispatching(ports, smsc)
  await until(() => smsc.status().links.length === 1)
  const receipts = ids.map((id) => Buffer.from(`id:${id} sub:001 dlvrd:001 stat:DELIVRD err:000`).toString('hex'))
  for (const [i, octets] of receipts.entries()) {
    expect(await code(message)).toBe(100)
    await smsc.inject({ from: '27825550100', to: '12025550100', octets, esmClass: 4 }).acknowledged
    await until(async () => i < 2 || (await code(message)) === 0)
  }
})
