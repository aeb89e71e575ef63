import {
  alwaysPermitted,
  Notices,
  Outgoing,
  SharedBinds,
  type CarrierBinds,
  type CarrierRates,
  type Reporting,
} from '@gateway/carrier-kit'
import {
  carrierId,
  type Availability,
  type Carrier,
  type CarrierHandlers,
  type CarrierId,
  type CarrierMode,
  type CarrierStatus,
  type DeliveryReceipt,
  type Submission,
  type SubmissionAnswer,
} from '@gateway/core/dispatch'
import type { HistogramCounts, TrafficObserver } from '@gateway/core/fleet'
import { Incoming } from './inbound/incoming.ts'
import { unknownQueries, type UnknownQueries } from './receipts/query-unknown.ts'
import { ReceiptMatcher } from './receipts/receipt-matcher.ts'
import { Link } from './session/link.ts'
import { LinkOutage } from './session/link-outage.ts'
import type { Role, Session } from './session/session.ts'
import { Traffic } from './session/traffic.ts'
import type { SmppSettings } from './settings.ts'
import { SmppTransport } from './submissions/smpp-transport.ts'
import type { Segment } from './text/encode-body.ts'

/** Status of a carrier over SMPP, which has links. */
type SmppStatus = CarrierStatus & Required<Pick<CarrierStatus, 'links'>>

export interface SmppCarrier extends Carrier {
  status(): SmppStatus
}

/**
 * Two stores: one in which processes share the binds of a carrier with `bindsMax`, and one in which they share the rate
 * of a carrier with `perSecond`.
 */
export interface Sharing {
  readonly binds: CarrierBinds
  readonly rates: CarrierRates
  readonly leaseSeconds: number
}

/**
 * A carrier over SMPP 3.4. Throws if `id` is not a carrier name.
 *
 *   created --listen--> running --close--> closed
 *                       |     ^
 *             setMode 'drained'  any other mode
 *                       v     |
 *                       drained: its links end once no submission is outstanding
 *
 * While it runs, each link connects again whenever its session ends.
 */
class LinkedCarrier implements SmppCarrier {
  readonly id: CarrierId
  readonly window: number
  readonly #settings: SmppSettings
  readonly #report: (problem: unknown) => void
  readonly #clock: { now(): number }
  readonly #notices: Notices
  readonly #sharing: Sharing | undefined
  readonly #traffic: Traffic
  readonly #outage: LinkOutage
  readonly #outgoing: Outgoing<Segment, Session>
  readonly #incoming: Incoming
  #links: readonly Link[] = []
  /** Sessions of the links that are bound. */
  #sessions: readonly Session[] = []
  #sharedBinds: SharedBinds | undefined
  #matcher: ReceiptMatcher | undefined
  #queries: UnknownQueries | undefined
  /** True while a link that can send is bound. */
  #isBound = false
  #isListening = false
  #isClosed = false
  /** Settles when the latest change of the links is done. Changes of the links run one after the other. */
  #relinking = Promise.resolve()

  constructor(id: string, settings: SmppSettings, reporting: Reporting, sharing: Sharing | undefined) {
    this.id = nameOf(id)
    this.window = settings.window * settings.binds
    this.#settings = settings
    this.#report = reporting.report
    this.#clock = reporting.clock ?? Date
    this.#notices = new Notices(this.id, reporting)
    this.#sharing = sharing
    if (settings.bindsMax !== undefined && sharing === undefined)
      throw new Error(`carrier ${this.id}: bindsMax needs a store`)
    this.#traffic = new Traffic(settings)
    const { warn, works } = this.#notices
    this.#outage = new LinkOutage({ failed: warn, works }, () => performance.now())
    const links = { sessions: () => this.#sessions, isBound: () => this.#isBound }
    this.#outgoing = new Outgoing(this.id, settings, new SmppTransport(settings, links), this.#notices, this.#clock)
    this.#incoming = new Incoming(this.id, settings, {
      beforeStoring: () => this.#outgoing.giveAnswers(),
      keptUnread: (problem, isOddPdu) => {
        // If an unusable PDU ended its session, the session reports its own reason.
        if (!isOddPdu) this.#notices.note(problem)
        // Not an Error, because its stack trace would not help an operator.
        reporting.report(`carrier ${this.id}: ${problem}`)
      },
      readAgain: (count) => works(`${count} receipts or messages that could not be read before were read`),
    })
  }

  listen(handlers: CarrierHandlers): void {
    const { receiptId, bindsMax } = this.#settings
    const { warn, fail } = this.#notices
    this.#isListening = true
    for (const note of longCredentials(this.#settings))
      warn(`${note}; it is sent unchanged, but the carrier may refuse it`)
    const query = { carrier: this.id, settings: this.#settings, session: this.#sendingSession, to: handlers }
    this.#queries = unknownQueries({ ...query, notify: warn, report: this.#report })
    const matcher = new ReceiptMatcher(this.id, receiptId, (receipts) => this.#storeReceipts(handlers, receipts), {
      adopted: (form, before) =>
        warn(
          `the message ids in its receipts have the form ${form} (before: ${before ?? 'unknown'}), which is used from now on; set receiptId=${form} to confirm it`,
        ),
      failed: this.#report,
      memory: handlers.receiptForm,
    })
    this.#matcher = matcher
    this.#incoming.listen(handlers, matcher).catch(this.#report)
    if (this.#sharing !== undefined) {
      if (bindsMax !== undefined)
        this.#sharedBinds = new SharedBinds({ carrier: this.id, bindsMax, notify: fail, ...this.#sharing })
      this.#outgoing.shareRate(this.#sharing)
    }
    if (this.mode() !== 'drained') this.#links = this.#connect()
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
    this.#relinking = this.#relinking.then(() => this.#relink()).catch(this.#report)
  }

  observe(observers: readonly TrafficObserver[]): void {
    this.#traffic.observe(observers)
  }

  status(): SmppStatus {
    return {
      window: this.#sessions.reduce((sum, session) => sum + session.window(), 0),
      links: this.#links.map((link) => link.status()),
      ...this.#outgoing.status(),
      receipts: this.#matcher?.counts() ?? { received: 0, missed: 0, form: this.#settings.receiptId },
      unreadable: this.#incoming.unreadable,
    }
  }

  responseTime(): HistogramCounts {
    return this.#outgoing.responseTime()
  }

  async close(deadline: Promise<unknown>): Promise<void> {
    this.#isClosed = true
    await this.#outgoing.finish(deadline)
    await Promise.race([this.#incoming.confirm(), deadline])
    await Promise.race([Promise.all(this.#links.map((link) => link.close())), deadline])
    for (const link of this.#links) link.destroy()
    this.#incoming.stop()
    const ended = this.#outgoing.end(deadline)
    await Promise.race([this.#sharedBinds?.stop(), deadline])
    this.#matcher?.stop()
    this.#queries?.stop()
    await ended
  }

  // Links

  #connect(): readonly Link[] {
    const events = {
      changed: this.#linksChanged,
      answered: (milliseconds: number) => this.#outgoing.answered(milliseconds),
      delivered: this.#incoming.delivered,
      unusable: this.#incoming.unusable,
      lost: this.#linkLost,
      clock: this.#clock,
    }
    const permits = Array.from({ length: this.#settings.binds }, () => this.#sharedBinds?.permit() ?? alwaysPermitted)
    return permits.flatMap((permit) =>
      rolesOf(this.#settings).map(
        (role) => new Link(this.#settings, role, { ...events, saw: this.#traffic.link(role) }, permit),
      ),
    )
  }

  /**
   * Closes or opens links according to the mode. A drained carrier first sends the missing parts of messages sent in
   * part.
   */
  async #relink(): Promise<void> {
    if (this.#isClosed || !this.#isListening) return
    if (this.mode() === 'drained' && this.#links.length > 0) {
      await this.#outgoing.quiet()
      if (this.#maySend()) return
      await Promise.all(this.#links.map((link) => link.close()))
      this.#links = []
      this.#linksChanged()
    } else if (this.mode() !== 'drained' && this.#links.length === 0) this.#links = this.#connect()
  }

  #maySend(): boolean {
    return this.mode() !== 'drained' || this.#isClosed
  }

  #linksChanged = (): void => {
    this.#sessions = this.#links.flatMap((link) => link.session() ?? [])
    this.#outage.bound(this.#sessions.length, this.#links.length)
    this.#outgoing.pump()
    const wasBound = this.#isBound
    this.#isBound = this.#links.some((link) => link.session() !== undefined && link.status().role !== 'receiver')
    if (this.#isBound !== wasBound) this.#outgoing.changed()
  }

  #linkLost = (reason: string): void => {
    this.#notices.note(reason)
    const bound = this.#links.filter((link) => link.session() !== undefined).length
    this.#outage.failed(reason, bound, this.#links.length)
  }

  #sendingSession = (): Session | undefined => this.#sessions.find((session) => session.room() > 0)

  // Receipts

  /** Stores receipts; resolves to those without a message. */
  async #storeReceipts(handlers: CarrierHandlers, receipts: readonly DeliveryReceipt[]) {
    const unmatched = await handlers.receipts(receipts)
    // Runs after the receipts are stored, because only messages whose stored state is unknown are queried.
    await this.#queries?.keep(receipts.filter((one) => one.isGuess !== true || !unmatched.includes(one)))
    return unmatched
  }
}

/** Creates a carrier over SMPP 3.4. Throws if `id` is not a carrier name. */
export const smppCarrier = (id: string, settings: SmppSettings, reporting: Reporting, sharing?: Sharing): SmppCarrier =>
  new LinkedCarrier(id, settings, reporting, sharing)

/** Returns notes about credentials longer than SMPP 3.4 allows (5.2.1, 5.2.2). Many carriers accept them. */
const longCredentials = ({ systemId, password }: SmppSettings): readonly string[] => [
  ...(systemId.length > 15 ? ['the system id has more than the 15 characters of SMPP 3.4'] : []),
  ...(password.length > 8 ? ['the password has more than the 8 characters of SMPP 3.4'] : []),
]

const rolesOf = ({ bind }: SmppSettings): readonly Role[] =>
  bind === 'transceiver' ? ['transceiver'] : ['transmitter', 'receiver']

function nameOf(text: string): CarrierId {
  const id = carrierId(text)
  if (id === undefined)
    throw new Error(`${JSON.stringify(text)} is not a carrier name; expected 1 to 32 of a-z, 0-9 and '-'`)
  return id
}
