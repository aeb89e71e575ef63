import {
  carrierId,
  type CarrierHandlers,
  type Carrier,
  type CarrierId,
  type CarrierMode,
  type CarrierStatus,
  type CircuitProblem,
  type CircuitStatus,
  type DeliveryReceipt,
  type Submission,
  type SubmissionAnswer,
} from '@gateway/core/dispatch'
import { createHistogram, type CarrierBinds, type CarrierRates, type PduObserver } from '@gateway/core/fleet'
import { Incoming } from './inbound/incoming.ts'
import { createUnknownQueries, type UnknownQueries } from './receipts/query-unknown.ts'
import { createReceiptMatcher, type ReceiptMatcher } from './receipts/receipt-matcher.ts'
import { createCircuit, type TimedCircuit } from './session/circuit.ts'
import { Link } from './session/link.ts'
import { createLinkOutage } from './session/link-outage.ts'
import { Pace } from './session/pace.ts'
import { slowSecondsOf } from './session/pending-requests.ts'
import type { Role, Session } from './session/session.ts'
import { alwaysPermitted, shareBinds, type SharedBinds } from './session/shared-binds.ts'
import { shareRate, type SharedRate } from './session/shared-rate.ts'
import { createTraffic } from './session/traffic.ts'
import type { SmppSettings } from './settings.ts'
import { createOutbox, type Outbox } from './submissions/outbox.ts'
import { messageReferences } from './text/encode-body.ts'

export interface SmppCarrier extends Carrier {
  readonly room: () => number
  readonly status: () => CarrierStatus
}

/** Callbacks for events that operators should know. */
export interface Reporting {
  readonly report: (problem: unknown) => void
  /** A reported problem is over. */
  readonly works?: (text: string) => void
  /** Clock for the times that operators see. Default: the machine's clock. */
  readonly clock?: { now(): number }
}

/** Stores in which processes share the binds of a carrier with `bindsMax` and the rate of one with `perSecond`. */
export interface Sharing {
  readonly binds: CarrierBinds
  readonly rates: CarrierRates
  readonly leaseSeconds: number
}

/** Upper bounds of the histogram of response times, in seconds. */
const responseBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/**
 * Seconds of the carrier's rate for which parts wait here. Further messages wait where other carriers can take them.
 */
const waitingSeconds = 0.1

/** Time between two calls of `SharedRate.look`. */
const lookMilliseconds = 250

/**
 * A carrier over SMPP 3.4. Throws if `id` is not a carrier name.
 *
 *   created --listen--> running --close--> closed
 *                       |     ^
 *             setMode 'drained'  any other mode
 *                       v     |
 *                       drained: its links end once nothing is unanswered
 *
 * While it runs, each link connects again whenever its session ends. The optional members of `Carrier` are properties,
 * because callers copy them.
 */
class LinkedCarrier implements SmppCarrier {
  readonly id: CarrierId
  readonly window: number
  readonly #settings: SmppSettings
  readonly #reporting: Reporting
  readonly #clock: { now(): number }
  readonly #sharing: Sharing | undefined
  readonly #pace: Pace
  readonly #traffic: ReturnType<typeof createTraffic>
  readonly #responseTimes = createHistogram(responseBounds)
  readonly #outage: ReturnType<typeof createLinkOutage>
  readonly #circuit: TimedCircuit
  readonly #outbox: Outbox
  readonly #incoming: Incoming
  #links: readonly Link[] = []
  /** Sessions of the links that are bound. */
  #sessions: readonly Session[] = []
  #sharedBinds: SharedBinds | undefined
  #sharedRate: SharedRate | undefined
  #looking: NodeJS.Timeout | undefined
  #matcher: ReceiptMatcher | undefined
  #queries: UnknownQueries | undefined
  #lastError: string | undefined
  /** True while a link that can send is bound. */
  #isBound = false
  #mode: CarrierMode = 'running'
  #isListening = false
  #isClosed = false
  /** Settles when the latest change of the links is done, because they end and begin one after the other. */
  #relinking = Promise.resolve()
  #availabilityChanged = (): void => undefined

  constructor(id: string, settings: SmppSettings, reporting: Reporting, sharing: Sharing | undefined) {
    this.id = nameOf(id)
    this.window = settings.window * settings.binds
    this.#settings = settings
    this.#reporting = reporting
    this.#clock = reporting.clock ?? Date
    this.#sharing = sharing
    if (settings.bindsMax !== undefined && sharing === undefined)
      throw new Error(`carrier ${this.id}: bindsMax needs a store`)
    this.#pace = new Pace(settings.perSecond)
    this.#traffic = createTraffic(settings)
    const notices = { failed: this.#warn, works: this.#works }
    this.#outage = createLinkOutage(notices, () => performance.now())
    const changed = this.#pumpAndNotify
    const opened = (reason: CircuitProblem): void => this.#fail(openedText(reason, settings))
    const closed = (after: number, by: 'answers' | 'idle'): void => this.#works(closedText(after, by))
    this.#circuit = createCircuit(settings, { changed, opened, closed }, this.#clock)
    const limits = { pace: this.#pace, breaker: this.#circuit.breaker }
    const refused = (reason: string): void => void (this.#lastError = reason)
    this.#outbox = createOutbox(settings, () => this.#sessions, limits, messageReferences(), refused)
    this.#incoming = new Incoming(this.id, settings, {
      beforeStoring: () => this.#outbox.giveAnswers(),
      keptUnread: (problem, isOddPdu) => {
        // An unusable PDU may have ended its session, which reports its own reason.
        if (!isOddPdu) this.#lastError = problem
        // Not an Error, because its stack trace would not help an operator.
        reporting.report(`carrier ${this.id}: ${problem}`)
      },
      readAgain: (count) => this.#works(`${count} receipts or messages that could not be read before were read`),
    })
  }

  listen(handlers: CarrierHandlers): void {
    const { receiptId, perSecond, bindsMax } = this.#settings
    const { report } = this.#reporting
    this.#isListening = true
    for (const note of longCredentials(this.#settings))
      this.#warn(`${note}; it is used as it is, but the carrier may refuse it`)
    const query = { carrier: this.id, settings: this.#settings, session: this.#sendingSession, to: handlers }
    this.#queries = createUnknownQueries({ ...query, notify: this.#warn, report })
    const matcher = createReceiptMatcher(this.id, receiptId, (receipts) => this.#storeReceipts(handlers, receipts), {
      adopted: (form, before) =>
        this.#warn(
          `its receipts fit in the form ${form} (before: ${before ?? 'unknown'}); that is kept, and receiptId=${form} makes it certain`,
        ),
      failed: report,
      memory: handlers.receiptForm,
    })
    this.#matcher = matcher
    this.#incoming.listen(handlers, matcher).catch(report)
    if (bindsMax !== undefined && this.#sharing !== undefined)
      this.#sharedBinds = shareBinds({ carrier: this.id, bindsMax, notify: this.#fail, ...this.#sharing })
    if (this.#sharing !== undefined && perSecond !== undefined) this.#shareRate(this.#sharing, perSecond)
    if (this.#mode !== 'drained') this.#links = this.#connect()
  }

  submit(messages: readonly Submission[], answered: (answers: readonly SubmissionAnswer[]) => void): void {
    this.#outbox.submit(messages, answered)
  }

  async close(deadline: Promise<unknown>): Promise<void> {
    this.#isClosed = true
    this.#outbox.shut()
    await Promise.race([this.#outbox.quiet(), deadline])
    this.#outbox.abandon()
    await Promise.race([this.#incoming.confirm(), deadline])
    await Promise.race([Promise.all(this.#links.map((link) => link.close())), deadline])
    for (const link of this.#links) link.destroy()
    clearInterval(this.#looking)
    this.#incoming.stop()
    await Promise.race([Promise.all([this.#sharedBinds?.stop(), this.#sharedRate?.stop()]), deadline])
    this.#matcher?.stop()
    this.#queries?.stop()
    await this.#outbox.quiet()
    this.#outbox.stop()
    this.#circuit.stop()
  }

  readonly room = (): number => {
    const now = performance.now()
    if (this.#pace.isPaused(now)) return 0
    const { breaker } = this.#circuit
    const { perSecond = Infinity } = this.#pace.state(now)
    const free = this.#sessions.reduce((sum, session) => sum + session.room(), 0)
    const paced = perSecond === 0 ? 0 : Math.max(1, Math.ceil(perSecond * waitingSeconds))
    const proven = breaker.isDoubtful(now) ? 0 : breaker.room()
    return Math.max(0, Math.min(free, paced, proven) - this.#outbox.waiting())
  }

  readonly handBack = (): void => this.#outbox.handBack(this.#sentWithinSecond())

  readonly setMode = (mode: CarrierMode): void => {
    this.#mode = mode
    this.#relinking = this.#relinking.then(() => this.#relink()).catch(this.#reporting.report)
  }

  readonly responseTime = this.#responseTimes.read

  readonly observe = (observers: readonly PduObserver[]): void => this.#traffic.observe(observers)

  readonly availability = () => {
    const now = performance.now()
    const { breaker } = this.#circuit
    if (!this.#isBound || breaker.state === 'open') return 'down'
    if (breaker.state === 'half-open') return 'probing'
    const isSlow = breaker.isDoubtful(now) || this.#sessions.some((session) => session.isSlow(now))
    return isSlow || this.#pace.state(now).isThrottled ? 'throttled' : 'available'
  }

  readonly onAvailability = (changed: () => void): void => void (this.#availabilityChanged = changed)

  readonly status = (): CarrierStatus => ({
    window: this.#sessions.reduce((sum, session) => sum + session.window(), 0),
    links: this.#links.map((link) => link.status()),
    ...this.#pace.state(performance.now()),
    waiting: this.#outbox.waiting(),
    lastError: this.#lastError,
    receipts: this.#matcher?.counts() ?? { received: 0, missed: 0, form: this.#settings.receiptId },
    unreadable: this.#incoming.unreadable,
    circuit: this.#circuitStatus(),
  })

  // Links

  #connect(): readonly Link[] {
    const events = {
      changed: this.#linksChanged,
      answered: (milliseconds: number) => this.#responseTimes.observe(milliseconds / 1000),
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

  /** Ends or makes links according to the mode. A drained carrier first sends the rest of messages sent in part. */
  async #relink(): Promise<void> {
    if (this.#isClosed || !this.#isListening) return
    if (this.#mode === 'drained' && this.#links.length > 0) {
      await this.#outbox.quiet()
      if (this.#maySend()) return
      await Promise.all(this.#links.map((link) => link.close()))
      this.#links = []
      this.#linksChanged()
    } else if (this.#mode !== 'drained' && this.#links.length === 0) this.#links = this.#connect()
  }

  #maySend(): boolean {
    return this.#mode !== 'drained' || this.#isClosed
  }

  #linksChanged = (): void => {
    this.#sessions = this.#links.flatMap((link) => link.session() ?? [])
    this.#outage.bound(this.#sessions.length, this.#links.length)
    this.#outbox.pump()
    const wasBound = this.#isBound
    this.#isBound = this.#links.some((link) => link.session() !== undefined && link.status().role !== 'receiver')
    if (this.#isBound !== wasBound) this.#availabilityChanged()
  }

  #linkLost = (reason: string): void => {
    this.#lastError = reason
    const bound = this.#links.filter((link) => link.session() !== undefined).length
    this.#outage.failed(reason, bound, this.#links.length)
  }

  #sendingSession = (): Session | undefined => this.#sessions.find((session) => session.room() > 0)

  // Rate and circuit

  #shareRate({ rates, leaseSeconds }: Sharing, perSecond: number): void {
    const events = { changed: this.#pumpAndNotify, notify: this.#fail }
    const share = shareRate({ carrier: this.id, rates, perSecond, leaseSeconds, pace: this.#pace, ...events })
    this.#sharedRate = share
    this.#looking = setInterval(() => void share.look(), lookMilliseconds)
    void share.look()
  }

  #pumpAndNotify = (): void => {
    this.#outbox.pump()
    this.#availabilityChanged()
  }

  /** Returns how many waiting messages are sent within a second although the carrier throttles. */
  #sentWithinSecond(): number {
    const now = performance.now()
    const { perSecond = 0, isThrottled } = this.#pace.state(now)
    const isSending = this.#mode === 'running' && !this.#pace.isPaused(now) && this.#circuit.breaker.state === 'closed'
    return isThrottled && isSending ? Math.floor(perSecond) : 0
  }

  #circuitStatus(): CircuitStatus {
    const { state, reason, answerMilliseconds } = this.#circuit.breaker
    const { silentSeconds, failuresPercent, probeSeconds, probeSecondsMax } = this.#settings
    return {
      ...{ state, since: this.#circuit.since(), reason },
      answerMilliseconds: answerMilliseconds === undefined ? undefined : Math.round(answerMilliseconds),
      ...{ silentSeconds, failuresPercent, probeSeconds, probeSecondsMax, slowSeconds: slowSecondsOf(this.#settings) },
    }
  }

  // Receipts

  /** Stores receipts; resolves to those without a message. */
  async #storeReceipts(handlers: CarrierHandlers, receipts: readonly DeliveryReceipt[]) {
    const unmatched = await handlers.receipts(receipts)
    // After the receipts, because only messages whose stored state is unknown are queried.
    await this.#queries?.keep(receipts.filter((one) => one.isGuess !== true || !unmatched.includes(one)))
    return unmatched
  }

  // Notices to operators

  #warn = (text: string): void => this.#reporting.report(new Error(`carrier ${this.id}: ${text}`))

  /** Reports a problem that is also the last error of the status. */
  #fail = (text: string): void => {
    this.#lastError = text
    this.#warn(text)
  }

  #works = (text: string): void => this.#reporting.works?.(`carrier ${this.id}: ${text}`)
}

/** Creates a carrier over SMPP 3.4. Throws if `id` is not a carrier name. */
export const smppCarrier = (id: string, settings: SmppSettings, reporting: Reporting, sharing?: Sharing): SmppCarrier =>
  new LinkedCarrier(id, settings, reporting, sharing)

function openedText(reason: CircuitProblem, { silentSeconds, failuresPercent }: SmppSettings): string {
  const cause =
    reason === 'silent'
      ? `it has answered no submission for ${silentSeconds} s or more`
      : `${failuresPercent} percent or more of the latest messages got no answer, or were refused for now and none taken`
  return `${cause}; it gets no messages but probes`
}

const closedText = (after: number, by: 'answers' | 'idle'): string =>
  by === 'answers'
    ? `it answers again after ${Math.round(after / 1000)} s`
    : 'it has had nothing to send for a minute; the next message tries it like a new carrier'

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
