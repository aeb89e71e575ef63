import { setImmediate as nextTurn } from 'node:timers'
import {
  carrierId,
  unreadKindOf,
  type Carrier,
  type CarrierHandlers,
  type CarrierMode,
  type CarrierStatus,
  type CarrierId,
  type CircuitProblem,
  type CircuitStatus,
  type DeliveryReceipt,
  type UnreadReceipt,
} from '@gateway/core/dispatch'
import { createHistogram, type CarrierBinds, type CarrierRates } from '@gateway/core/fleet'
import { createOffers, type Confirm } from './inbound/offers.ts'
import { readInboundMessage } from './inbound/read-inbound-message.ts'
import { COMMAND_STATUS } from '@gateway/smpp'
import { isReceipt, readReceipt, readReceiptByText, type CarrierReceipt } from './receipts/read-receipt.ts'
import { createUnknownQueries, type UnknownQueries } from './receipts/query-unknown.ts'
import { createReceiptMatcher, type ReceiptMatcher } from './receipts/receipt-matcher.ts'
import { createRepeatedRefusals } from './receipts/repeated-refusals.ts'
import { binaryMessage, describeUnread, readAgain, unreadReceipt, unusablePdu } from './receipts/unread-receipts.ts'
import { Link } from './session/link.ts'
import { createLinkOutage } from './session/link-outage.ts'
import { createCircuit } from './session/circuit.ts'
import { createPace } from './session/pace.ts'
import { createTraffic } from './session/traffic.ts'
import { shareRate, type SharedRate } from './session/shared-rate.ts'
import { slowSecondsOf } from './session/pending-requests.ts'
import type { AnswerDelivered, Delivered, Role, Session, Unusable } from './session/session.ts'
import { alwaysPermitted, shareBinds, type SharedBinds } from './session/shared-binds.ts'
import type { SmppSettings } from './settings.ts'
import { createOutbox } from './submissions/outbox.ts'
import { isBinary } from './text/decode-text.ts'
import { messageReferences } from './text/encode-body.ts'

export interface SmppCarrier extends Carrier {
  readonly room: () => number
  readonly status: () => CarrierStatus
}

/** Who hears what operators should know. */
export interface Reporting {
  readonly report: (problem: unknown) => void
  /** What was reported is over. */
  readonly works?: (what: string) => void
  /** By which it tells since when it is bound; that of this machine if not given. */
  readonly clock?: { now(): number }
}

/** Where processes share the binds of a carrier that has `bindsMax`, and the rate of one that has `perSecond`. */
export interface Sharing {
  readonly binds: CarrierBinds
  readonly rates: CarrierRates
  readonly leaseSeconds: number
}

/** Without `answer` the carrier does not offer it again, whatever becomes of it here. */
interface Unread {
  readonly item: UnreadReceipt
  readonly answer: AnswerDelivered | undefined
}

interface ReceiptArrival extends Arrival<CarrierReceipt> {
  /** How it is kept if it is a receipt by its text alone and fits no message. */
  readonly kept?: UnreadReceipt
}

interface Arrival<Item> {
  readonly item: Item
  readonly answer: AnswerDelivered
  readonly confirm: Confirm
}

/** In seconds. */
const responseBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** With a rate so many seconds' worth of parts wait here for their turn; all else waits where others can have it. */
const waitingSeconds = 0.1

/** Maximum number of refused PDUs that wait until they can be kept, and the time between two tries. */
const refusedMax = 100
const keepAgainMilliseconds = 1000

/** Between two looks whether the share of the rate is to be renewed. */
const lookMilliseconds = 250

/**
 * A carrier over SMPP 3.4. It connects once it is listened to, and again whenever a connection ends. Throws if `id` is
 * no name.
 */
export function smppCarrier(
  id: string,
  settings: SmppSettings,
  { report, works, clock = Date }: Reporting,
  sharing?: Sharing,
): SmppCarrier {
  const name = nameOf(id)
  const { bindsMax } = settings
  if (bindsMax !== undefined && sharing === undefined) throw new Error(`carrier ${name}: bindsMax needs a store`)
  const pace = createPace(settings.perSecond)
  const offers = createOffers((ended) => handlers?.offersEnded?.(ended) ?? Promise.resolve())
  let links: readonly Link[] = []
  let sessions: readonly Session[] = []
  let shared: SharedBinds | undefined
  let sharedRate: SharedRate | undefined
  let looking: NodeJS.Timeout | undefined
  let handlers: CarrierHandlers | undefined
  let matcher: ReceiptMatcher | undefined
  let queries: UnknownQueries | undefined
  let lastError: string | undefined
  let unreadable = 0
  let isBound = false
  let mode: CarrierMode = 'running'
  const traffic = createTraffic(settings)
  const responseTime = createHistogram(responseBounds)
  const answered = (milliseconds: number): void => responseTime.observe(milliseconds / 1000)
  let isClosed = false
  /** Links end and begin one after the other. */
  let relinking = Promise.resolve()
  let boundChanged = (): void => undefined
  let receipts: ReceiptArrival[] = []
  let unread: Unread[] = []
  let messages: Arrival<Delivered>[] = []
  let gathering: NodeJS.Immediate | undefined
  let keepingAgain: NodeJS.Timeout | undefined
  const repeated = createRepeatedRefusals()

  const complain = (what: string): void => report(new Error(`carrier ${name}: ${what}`))
  const tell = (what: string): void => {
    lastError = what
    complain(what)
  }
  const outage = createLinkOutage({ failed: complain, works: (what) => works?.(`carrier ${name}: ${what}`) }, () =>
    performance.now(),
  )
  const circuit = createCircuit(
    settings,
    {
      changed() {
        outbox.pump()
        boundChanged()
      },
      opened: (reason) => tell(openedText(reason, settings)),
      closed: (after, by) => works?.(`carrier ${name}: ${closedText(after, by)}`),
    },
    clock,
  )
  const { breaker } = circuit
  const outbox = createOutbox(
    settings,
    () => sessions,
    { pace, breaker },
    messageReferences(),
    (why) => void (lastError = why),
  )

  function changed(): void {
    sessions = links.flatMap((link) => link.session() ?? [])
    outage.bound(sessions.length, links.length)
    outbox.pump()
    const wasBound = isBound
    isBound = links.some((link) => link.session() !== undefined && link.status().role !== 'receiver')
    if (isBound !== wasBound) boundChanged()
  }

  function lost(reason: string): void {
    lastError = reason
    outage.failed(reason, links.filter((link) => link.session() !== undefined).length, links.length)
  }

  function delivered(pdu: Delivered, answer: AnswerDelivered, confirm: Confirm, octets: () => Buffer): void {
    const receipt = isReceipt(pdu) ? readReceipt(pdu, settings) : readReceiptByText(pdu, settings)
    if (receipt !== undefined && receipt !== 'unreadable' && receipt.isByTextAlone === true) {
      const kept = { carrier: name, ...unreadReceipt(pdu, octets(), settings) }
      receipts.push({ item: receipt, kept, answer, confirm })
    } else if (receipt === 'unreadable') keepLater(unreadReceipt(pdu, octets(), settings), answer)
    else if (receipt !== undefined) receipts.push({ item: receipt, answer, confirm })
    else if (isBinary(pdu.dataCoding)) keepLater(binaryMessage(pdu, octets(), settings), answer)
    else messages.push({ item: pdu, answer, confirm })
    gathering ??= nextTurn(offer)
  }

  function unusable(_pdu: Unusable, octets: () => Buffer, answer?: AnswerDelivered): void {
    const bytes = octets()
    if (repeated.isRepetition(bytes)) unreadable++
    else keepLater(unusablePdu(bytes, settings), answer)
  }

  function keepLater(item: Omit<UnreadReceipt, 'carrier'>, answer?: AnswerDelivered): void {
    unread.push({ item: { carrier: name, ...item }, answer })
    gathering ??= nextTurn(offer)
  }

  function keepUnread(arrivals: readonly Unread[]): void {
    const items = arrivals.map(({ item }) => item)
    const answers = arrivals.flatMap(({ answer }) => answer ?? [])
    const keep = () => handlers?.unreadReceipts?.keep(items)
    void acknowledge(answers, keep, settings.storeSeconds).then((isStored) => {
      if (!isStored) {
        // The carrier offers again what was answered; the others wait here until they can be kept.
        unread.unshift(...arrivals.filter(({ answer }) => answer === undefined).slice(-refusedMax))
        if (unread.length > 0 && !isClosed) keepingAgain ??= setTimeout(keepAgain, keepAgainMilliseconds)
        return
      }
      reportUnread(items)
    })
  }

  function reportUnread(items: readonly UnreadReceipt[]): void {
    unreadable += items.length
    const problem = `${describeUnread(items)}: gateway carrier receipts ${name} --unread`
    // A PDU may have ended its session, which says why by itself.
    if (items.some((item) => unreadKindOf(item) !== 'pdu')) lastError = problem
    // Not an Error, because the place in this program where it was found tells an operator nothing.
    report(`carrier ${name}: ${problem}`)
  }

  function keepAgain(): void {
    keepingAgain = undefined
    gathering ??= nextTurn(offer)
  }

  /** Reads what could not be read before, because settings or program may have changed. */
  async function readUnread(to: CarrierHandlers, finding: ReceiptMatcher): Promise<void> {
    if (to.unreadReceipts === undefined) return
    const count = await readAgain(to.unreadReceipts, name, settings, {
      receipts: (some) => finding.take(some),
      messages: (some) => to.inboundMessages(some),
    })
    if (count > 0) works?.(`carrier ${name}: ${count} receipts or messages that could not be read before were read`)
  }

  function offer(): void {
    gathering = undefined
    const [receiptsNow, messagesNow, unreadNow] = [receipts, messages, unread]
    receipts = []
    messages = []
    unread = []
    // They came before what they answer was read of here: who stores receipts looks for messages whose answers it
    // knows.
    outbox.giveAnswers()
    if (receiptsNow.length > 0) void store(receiptsNow, () => takeReceipts(receiptsNow))
    if (messagesNow.length > 0) offerMessages(messagesNow)
    if (unreadNow.length > 0) keepUnread(unreadNow)
  }

  /** A text that looks like a receipt and fits no message may be a person's: it is kept before it is acknowledged. */
  async function takeReceipts(arrivals: readonly ReceiptArrival[]): Promise<void> {
    const strangers = await matcher?.take(arrivals.map(({ item }) => item))
    const kept = arrivals.flatMap((arrival) => (strangers?.includes(arrival.item) && arrival.kept) || [])
    if (kept.length === 0) return
    await handlers?.unreadReceipts?.keep(kept)
    reportUnread(kept)
  }

  function offerMessages(arrivals: typeof messages): void {
    const read = arrivals.map((arrival) => {
      const { item, confirm } = arrival
      return { ...arrival, item: readInboundMessage(item, name, settings, (content) => offers.of(content, confirm)) }
    })
    const done = store(read, () => handlers?.inboundMessages(read.map(({ item }) => item)))
    void done.then((isStored) => {
      if (isStored) for (const { item, confirm } of read) offers.acknowledged([item.offer ?? ''], confirm)
    })
  }

  const store = (arrivals: readonly Arrival<unknown>[], by: () => Promise<unknown> | undefined): Promise<boolean> =>
    acknowledge(
      arrivals.map(({ answer }) => answer),
      by,
      settings.storeSeconds,
    )

  function listen(to: CarrierHandlers): void {
    handlers = to
    for (const what of longCredentials(settings)) {
      complain(`${what}; it is used as it is, but the carrier may refuse it`)
    }
    queries = createUnknownQueries({ carrier: name, settings, session: sending, to, notify: complain, report })
    matcher = createReceiptMatcher(name, settings.receiptId, (some) => storeReceipts(to, some), {
      adopted: (form, before) =>
        complain(
          `its receipts fit in the form ${form} (before: ${before ?? 'unknown'}); that is kept, and receiptId=${form} makes it certain`,
        ),
      failed: report,
      memory: to.receiptForm,
    })
    readUnread(to, matcher).catch(report)
    if (bindsMax !== undefined && sharing !== undefined)
      shared = shareBinds({ carrier: name, bindsMax, notify: tell, ...sharing })
    if (sharing !== undefined && settings.perSecond !== undefined) shareTheRate(sharing, settings.perSecond)
    if (mode !== 'drained') links = connect()
  }

  function shareTheRate({ rates, leaseSeconds }: Sharing, perSecond: number): void {
    const changed = (): void => {
      outbox.pump()
      boundChanged()
    }
    const share = (sharedRate = shareRate({
      carrier: name,
      rates,
      perSecond,
      leaseSeconds,
      pace,
      changed,
      notify: tell,
    }))
    looking = setInterval(() => void share.look(), lookMilliseconds)
    void share.look()
  }

  /** Resolves to those that found no message. */
  async function storeReceipts(to: CarrierHandlers, receipts: readonly DeliveryReceipt[]) {
    const strangers = await to.receipts(receipts)
    // Once they are stored: what it is asked for must be unknown.
    await queries?.keep(receipts.filter((one) => one.isGuess !== true || !strangers.includes(one)))
    return strangers
  }

  const sending = (): Session | undefined => sessions.find((session) => session.room() > 0)

  const connect = (): readonly Link[] =>
    Array.from({ length: settings.binds }, () => shared?.permit() ?? alwaysPermitted).flatMap((permit) =>
      rolesOf(settings).map(
        (role) =>
          new Link(
            settings,
            role,
            { changed, answered, delivered, unusable, lost, clock, saw: traffic.link(role) },
            permit,
          ),
      ),
    )

  function setMode(next: CarrierMode): void {
    mode = next
    relinking = relinking.then(relink).catch(report)
  }

  const maySend = (): boolean => mode !== 'drained' || isClosed

  /** Drained: what is under way ends first, parts of a message that has left in part as well. */
  async function relink(): Promise<void> {
    if (isClosed || handlers === undefined) return
    if (mode === 'drained' && links.length > 0) {
      await outbox.quiet()
      if (maySend()) return
      await Promise.all(links.map((link) => link.close()))
      links = []
      changed()
    } else if (mode !== 'drained' && links.length === 0) links = connect()
  }

  /** So many of those that wait leave within a second: a carrier that gets less than it did, but not nothing. */
  function leavesSoon(): number {
    const now = performance.now()
    const { perSecond = 0, isThrottled } = pace.state(now)
    const goesOn = mode === 'running' && !pace.isPaused(now) && breaker.state === 'closed'
    return isThrottled && goesOn ? Math.floor(perSecond) : 0
  }

  function circuitStatus(): CircuitStatus {
    const { state, reason, answerMilliseconds } = breaker
    const { silentSeconds, failuresPercent, probeSeconds, probeSecondsMax } = settings
    return {
      ...{ state, since: circuit.since(), reason },
      answerMilliseconds: answerMilliseconds === undefined ? undefined : Math.round(answerMilliseconds),
      ...{ silentSeconds, failuresPercent, probeSeconds, probeSecondsMax, slowSeconds: slowSecondsOf(settings) },
    }
  }

  return {
    id: name,
    window: settings.window * settings.binds,
    listen,
    submit: (some, answered) => outbox.submit(some, answered),
    room() {
      const now = performance.now()
      if (pace.isPaused(now)) return 0
      const { perSecond = Infinity } = pace.state(now)
      const free = sessions.reduce((sum, session) => sum + session.room(), 0)
      const paced = perSecond === 0 ? 0 : Math.max(1, Math.ceil(perSecond * waitingSeconds))
      const proven = breaker.isDoubtful(now) ? 0 : breaker.room()
      return Math.max(0, Math.min(free, paced, proven) - outbox.waiting())
    },
    handBack: () => outbox.handBack(leavesSoon()),
    setMode,
    responseTime: responseTime.read,
    observe: (observers) => traffic.observe(observers),
    async close(deadline) {
      isClosed = true
      outbox.shut()
      await Promise.race([outbox.quiet(), deadline])
      outbox.abandon()
      await Promise.race([offers.stop(), deadline])
      await Promise.race([Promise.all(links.map((link) => link.close())), deadline])
      for (const link of links) link.destroy()
      clearInterval(looking)
      clearTimeout(keepingAgain)
      await Promise.race([Promise.all([shared?.stop(), sharedRate?.stop()]), deadline])
      matcher?.stop()
      queries?.stop()
      await outbox.quiet()
      outbox.stop()
      circuit.stop()
    },
    availability() {
      const now = performance.now()
      if (!isBound || breaker.state === 'open') return 'down'
      if (breaker.state === 'half-open') return 'probing'
      const isSlow = breaker.isDoubtful(now) || sessions.some((session) => session.isSlow(now))
      return isSlow || pace.state(now).isThrottled ? 'throttled' : 'available'
    },
    onAvailability: (told) => void (boundChanged = told),
    status: () => ({
      window: sessions.reduce((sum, session) => sum + session.window(), 0),
      links: links.map((link) => link.status()),
      ...pace.state(performance.now()),
      waiting: outbox.waiting(),
      lastError,
      receipts: matcher?.counts() ?? { received: 0, missed: 0, form: settings.receiptId },
      unreadable,
      circuit: circuitStatus(),
    }),
  }
}

function openedText(reason: CircuitProblem, { silentSeconds, failuresPercent }: SmppSettings): string {
  const why =
    reason === 'silent'
      ? `it has answered no submission for ${silentSeconds} s or more`
      : `${failuresPercent} percent or more of the latest messages got no answer, or were refused for now and none taken`
  return `${why}; it gets no messages but probes`
}

const closedText = (after: number, by: 'answers' | 'idle'): string =>
  by === 'answers'
    ? `it answers again after ${Math.round(after / 1000)} s`
    : 'it has had nothing to send for a minute; the next message tries it like a new carrier'

/** What is longer than SMPP 3.4 has room for (5.2.1, 5.2.2). Many carriers take it. */
const longCredentials = ({ systemId, password }: SmppSettings): readonly string[] => [
  ...(systemId.length > 15 ? ['the system id has more than the 15 characters of SMPP 3.4'] : []),
  ...(password.length > 8 ? ['the password has more than the 8 characters of SMPP 3.4'] : []),
]

const rolesOf = ({ bind }: SmppSettings): readonly Role[] =>
  bind === 'transceiver' ? ['transceiver'] : ['transmitter', 'receiver']

function nameOf(text: string): CarrierId {
  const id = carrierId(text)
  if (id === undefined) throw new Error(`${JSON.stringify(text)} is no name of a carrier: 1 to 32 of a-z, 0-9 and '-'`)
  return id
}

/**
 * Answers what came once `store` has resolved (P-7). If it rejects, or has not resolved after so many seconds, the
 * carrier is asked to offer it again; what is stored later after all is known then. Resolves to whether it was
 * acknowledged; never rejects.
 */
export async function acknowledge(
  answers: readonly AnswerDelivered[],
  store: () => Promise<unknown> | undefined,
  secondsMax: number,
): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), secondsMax * 1000)))
  // The handler has logged why it failed.
  const stored = Promise.resolve(store()).then(
    () => true,
    () => false,
  )
  const isStored = await Promise.race([stored, late])
  clearTimeout(timer)
  for (const answer of answers) answer(isStored ? COMMAND_STATUS.ESME_ROK : COMMAND_STATUS.ESME_RX_T_APPN)
  return isStored
}
