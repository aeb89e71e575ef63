import { Notices, Outgoing, RequestWindow, type RateSharing, type Reporting } from '@gateway/carrier-kit'
import {
  carrierId,
  type Availability,
  type Carrier,
  type CarrierHandlers,
  type CarrierId,
  type CarrierMode,
  type CarrierStatus,
  type Submission,
  type SubmissionAnswer,
} from '@gateway/core/dispatch'
import type { HistogramCounts, TrafficObserver } from '@gateway/core/fleet'
import type { ProviderAccount } from '../account.ts'
import { accountOf, callbacksOf, originOfAccount, type HttpSettings } from '../settings.ts'
import { createTransport, type Transport } from '../transport/exchange.ts'
import { HttpTransport, type HttpPart } from './http-transport.ts'
import { repeatableShare } from './request-result.ts'
import { HttpTraffic } from './traffic.ts'

/** Seconds for which a request of unknown outcome is repeated, if the provider guarantees one delivery. */
const repeatSeconds = 30

/**
 * A carrier over HTTP: one request for each message. Receipts and messages of people arrive as callbacks, in whichever
 * process serves them.
 */
class HttpCarrier implements Carrier {
  readonly id: CarrierId
  readonly window: number
  readonly repeatableSeconds: number | undefined
  readonly #sharing: RateSharing | undefined
  readonly #account: ProviderAccount
  readonly #notices: Notices
  readonly #traffic: HttpTraffic
  readonly #window: RequestWindow
  readonly #connections: Transport
  readonly #outgoing: Outgoing<HttpPart, RequestWindow>
  readonly #hasCallbacks: boolean

  constructor(id: string, settings: HttpSettings, reporting: Reporting, sharing: RateSharing | undefined) {
    this.id = nameOf(id)
    this.window = settings.window
    const { repeatable } = accountOf(settings).provider.description.send
    this.repeatableSeconds = repeatable && repeatable.hours * 3600 * repeatableShare
    this.#sharing = sharing
    const { clock = Date } = reporting
    const account = accountOf(settings)
    this.#account = account
    this.#notices = new Notices(this.id, reporting)
    this.#traffic = new HttpTraffic(account)
    this.#window = new RequestWindow({ ...settings, slowSeconds: undefined })
    this.#connections = createTransport({ ...settings, origin: originOfAccount(account), connections: settings.window })
    const callbacks = callbacksOf(account, this.id, settings.publicUrl)
    this.#hasCallbacks = callbacks !== undefined
    const transport = new HttpTransport({
      ...{ account, connections: this.#connections, window: this.#window, callbacks, clock },
      traffic: this.#traffic,
      answered: (milliseconds) => this.#outgoing.answered(milliseconds),
      note: this.#notices.note,
    })
    const patience = { partsSeconds: repeatSeconds, slowSeconds: undefined }
    this.#outgoing = new Outgoing(this.id, { ...settings, ...patience }, transport, this.#notices, clock)
  }

  listen(_handlers: CarrierHandlers): void {
    if (this.#account.provider.description.callbacks !== undefined && !this.#hasCallbacks)
      this.#notices.warn('no receipts or replies will arrive: callbacks need PUBLIC_URL and a secret to verify them')
    if (this.#sharing !== undefined) this.#outgoing.shareRate(this.#sharing)
  }

  submit(messages: readonly Submission[], answered: (answers: readonly SubmissionAnswer[]) => void): void {
    this.#outgoing.submit(messages, answered)
  }

  room(): number {
    return this.#outgoing.room()
  }

  handBack(): void {
    this.#outgoing.handBack()
  }

  availability(): Availability {
    return this.#outgoing.availability()
  }

  onAvailability(changed: () => void): void {
    this.#outgoing.onAvailability(changed)
  }

  mode(): CarrierMode {
    return this.#outgoing.mode
  }

  setMode(mode: CarrierMode): void {
    this.#outgoing.setMode(mode)
  }

  observe(observers: readonly TrafficObserver[]): void {
    this.#traffic.observe(observers)
  }

  status(): CarrierStatus {
    const { open, inUse } = this.#connections.connections()
    const { title } = this.#account.provider.description
    return {
      window: this.#window.window(),
      ...this.#outgoing.status(),
      receipts: { received: 0, missed: 0 },
      unreadable: 0,
      facts: [
        ...(title === undefined ? [] : [['provider', title] as const]),
        ['address', originOfAccount(this.#account)],
        ['connections', `${open} open, ${inUse} in use`],
        ['callbacks', this.#hasCallbacks ? 'yes' : 'no'],
      ],
    }
  }

  responseTime(): HistogramCounts {
    return this.#outgoing.responseTime()
  }

  async close(deadline: Promise<unknown>): Promise<void> {
    await this.#outgoing.finish(deadline)
    await this.#connections.close()
    await this.#outgoing.end(deadline)
  }
}

/** Creates a carrier over HTTP. Throws if `id` is not a carrier name. It connects when the first message is sent. */
export const httpCarrier = (id: string, settings: HttpSettings, reporting: Reporting, sharing?: RateSharing): Carrier =>
  new HttpCarrier(id, settings, reporting, sharing)

function nameOf(text: string): CarrierId {
  const id = carrierId(text)
  if (id === undefined)
    throw new Error(`${JSON.stringify(text)} is not a carrier name; expected 1 to 32 of a-z, 0-9 and '-'`)
  return id
}
