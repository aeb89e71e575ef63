import { smppCarrierFromUrl, type SmppCarrier } from '@gateway/adapters-smpp'
import { createDispatcher, type Lane } from '@gateway/core/dispatch'
import type { MessageId } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { anAccount, anOrder, aNumber, memoryPorts } from '@gateway/core/testing'
import type { SmscSettings, Smsc } from '../src/settings.ts'
import { startSmsc } from '../src/start-smsc.ts'

type Ports = ReturnType<typeof memoryPorts>

export interface Dispatching {
  readonly status: SmppCarrier['status']
  /** Problems reported to operators. */
  readonly problems: readonly string[]
  /** Ends the dispatcher as kill -9 would. */
  end(): Promise<void>
}

const started: Dispatching[] = []
const smscs: Smsc[] = []

/** Ends all dispatchers and servers; for `afterEach`. */
export async function endDispatching(): Promise<void> {
  await Promise.all(started.splice(0).map((one) => one.end()))
  await Promise.all(smscs.splice(0).map((smsc) => smsc.close()))
}

/** Starts a dispatcher for the carrier at this server, with the loops that a process of the gateway runs. */
export function dispatching(ports: Ports, smsc: Smsc, parameters = ''): Dispatching {
  const problems: string[] = []
  const report = (problem: unknown): void => void problems.push(String(problem))
  const url = `smpp://us:secret@127.0.0.1:${smsc.port}?reconnectSecondsMax=1${parameters}`
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
  const ticking = setInterval(() => {
    dispatcher.retry()
    void ports.deliveryReceipts.match(1000)
  }, 20)
  const one = {
    status: () => carrier.status(),
    problems,
    end: async (): Promise<void> => {
      hasEnded = true
      clearInterval(ticking)
      await carrier.close(Promise.resolve())
    },
  }
  started.push(one)
  return one
}

export async function aServer(settings: SmscSettings = {}): Promise<Smsc> {
  const smsc = await startSmsc({ retryMilliseconds: 20, ...settings })
  smscs.push(smsc)
  return smsc
}

export async function aSender() {
  const ports = memoryPorts()
  const { id } = await anAccount(ports, { credits: 100_000 })
  return {
    ports,
    send: async (number: string, text: string): Promise<MessageId> => {
      const accepted = await ports.messages.accept(anOrder(id, { to: [aNumber(number)], text }))
      const ids = typeof accepted === 'object' ? accepted.results.flat() : []
      return ids[0] as MessageId
    },
    code: async (message: MessageId) => {
      const [status] = await ports.messages.status(id, [message], instant(0))
      return typeof status === 'object' ? status.code : status
    },
  }
}
