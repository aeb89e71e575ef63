import {
  carrierId,
  type Carrier,
  type CarrierHandlers,
  type CarrierStatus,
  type DeliveryReceipt,
  type Submission,
} from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'
import {
  circuitDefaults,
  Notices,
  Outgoing,
  RequestWindow,
  type CarrierRates,
  type OutgoingSettings,
  type PartRequest,
  type RequestResult,
  type Transport,
} from '@gateway/carrier-kit'

/** Response of the network to a request. A request that meets 'silence' is given up after `responseSeconds`. */
export type Response = RequestResult | 'silence'

export interface NetworkSettings extends Partial<OutgoingSettings> {
  readonly window?: number
  /** Number of parts of each message, by default 1. */
  readonly parts?: number
  readonly rates?: CarrierRates
  /** Answers a request. `nth` counts the requests from 1. Default: accepted, and delivered a moment later. */
  readonly answer?: (request: PartRequest<string>, nth: number) => Response | Promise<Response>
}

interface NetworkCarrier extends Carrier {
  status(): CarrierStatus
}

/** A carrier over a network without connections, such as HTTP, whose answers a test decides. */
export function networkCarrier(changes: NetworkSettings = {}) {
  const id = carrierId('network') ?? fail()
  const settings = {
    ...{ window: 50, perSecond: undefined, responseSeconds: 30, slowSeconds: undefined },
    ...{ holdSeconds: 15, partsSeconds: 30, ...circuitDefaults, ...changes },
  }
  const window = new RequestWindow(settings)
  const requests: PartRequest<string>[] = []
  const [problems, recoveries]: [string[], string[]] = [[], []]
  const reporting = {
    report: (problem: unknown) => problems.push(String(problem)),
    works: (text: string) => recoveries.push(text),
  }
  let handlers: CarrierHandlers | undefined
  let isClosed = false

  const transport: Transport<string, RequestWindow> = {
    channels: () => [window],
    isConnected: () => true,
    isSlow: (now) => window.isSlow(now),
    partsOf: ({ body }) => Array.from({ length: settings.parts ?? 1 }, (_, at) => `${body.text} ${at + 1}`),
    send(over, request, settle) {
      if (request.segment.startsWith('unsendable')) return { invalid: 'the text does not fit' }
      requests.push(request)
      void respond(over.begin(performance.now()), request, requests.length, settle)
      return 'sent'
    },
  }
  const notices = new Notices(id, reporting)
  const outgoing = new Outgoing(id, settings, transport, notices)

  async function respond(
    end: ReturnType<RequestWindow['begin']>,
    request: PartRequest<string>,
    nth: number,
    settle: (result: RequestResult) => void,
  ): Promise<void> {
    const sentAt = performance.now()
    const result = (await settings.answer?.(request, nth)) ?? { is: 'accepted', reference: `ref-${nth}` }
    if (result === 'silence') await new Promise((resolve) => setTimeout(resolve, settings.responseSeconds * 1000))
    end(performance.now(), result === 'silence' ? 'given-up' : 'answered')
    if (result !== 'silence') outgoing.answered(performance.now() - sentAt)
    settle(result === 'silence' ? { is: 'unknown', hasAnswered: false } : result)
    if (result !== 'silence' && result.is === 'accepted' && result.reference !== undefined)
      setImmediate(() => void deliver(request.message, result.reference ?? ''))
  }

  /** Offers a receipt until it is stored. */
  async function deliver({ to }: Submission, reference: string): Promise<void> {
    const receipt: DeliveryReceipt = {
      carrier: id,
      reference,
      code: OUTCOME.delivered,
      number: to,
      submitted: undefined,
    }
    while (!isClosed) {
      outgoing.giveAnswers()
      const isStored = await handlers?.receipts([receipt]).then(
        () => true,
        () => false,
      )
      if (isStored === true) return
      await new Promise(setImmediate)
    }
  }

  const carrier: NetworkCarrier = {
    id,
    window: settings.window,
    listen(to) {
      handlers = to
      if (settings.rates !== undefined) outgoing.shareRate({ rates: settings.rates, leaseSeconds: 4 })
    },
    submit: (messages, answered) => outgoing.submit(messages, answered),
    room: () => outgoing.room(),
    handBack: () => outgoing.handBack(),
    availability: () => outgoing.availability(),
    onAvailability: (changed) => outgoing.onAvailability(changed),
    mode: () => outgoing.mode,
    setMode: (mode) => outgoing.setMode(mode),
    observe: () => undefined,
    status: () => ({
      ...outgoing.status(),
      ...{ window: window.window(), receipts: { received: 0, missed: 0 }, unreadable: 0 },
    }),
    responseTime: () => outgoing.responseTime(),
    async close(deadline) {
      await outgoing.finish(deadline)
      isClosed = true
      await outgoing.end(deadline)
    },
  }
  return { carrier, requests, problems, recoveries }
}

function fail(): never {
  throw new Error('not a carrier name')
}
