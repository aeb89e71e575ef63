import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Pace } from '@gateway/carrier-kit'
import {
  carrierId,
  type Availability,
  type Carrier,
  type CarrierHandlers,
  type CarrierId,
  type CarrierMode,
  type Submission,
} from '@gateway/core/dispatch'
import { isNameOfSender } from '@gateway/core/messages'
import { instant, secondsAfter, type Clock } from '@gateway/core/time'
import { outcomeOf } from './outcomes.ts'
import { owners, type Owners } from './owners.ts'
import { referenceAt, runOf } from './past-submissions.ts'
import { ReceiptSender } from './receipt-sender.ts'
import type { NotWritten } from './record-file.ts'
import { readRecord, type Owed, type SubmissionRecord, type Submitted } from './record.ts'
import { SubmissionQueue, type Waiting } from './submission-queue.ts'

export interface SimulatedCarrierSettings {
  /** Folder of the record, created if missing. Several processes may use one folder at the same time. */
  readonly folder: string
  /** Name of the carrier in the configuration. Default `simulator`. */
  readonly id?: string
  /**
   * Time from a submission to its receipt, and from an acknowledged receipt to the next receipt or the reply. Default
   * 1000; 0 means the next turns of the event loop.
   */
  readonly delayMilliseconds?: number
  /** Maximum number of unanswered submissions. Default 1000. */
  readonly window?: number
  /** Maximum number of submissions accepted per second. Default: no limit. */
  readonly perSecond?: number
  /** Clock for the times of submissions and receipts. Default: the machine's clock. */
  readonly clock?: Clock
  /** Called when the record cannot be read or written. Default: prints to standard error. */
  readonly report?: (problem: unknown) => void
}

interface Link {
  readonly record: SubmissionRecord
  readonly sender: ReceiptSender
}

interface Decided extends Submitted {
  readonly waiting: Waiting
  readonly owed: Owed | undefined
  readonly receiptFirst: boolean
}

const machineClock: Clock = { now: () => instant(Date.now()) }

/** Maximum time for which an answer waits for the receipt that is sent before it. */
const receiptFirstMilliseconds = 1000

/**
 * A carrier without a network; the number of a message decides its outcome (`outcomes.ts`). The carrier records each
 * submission and acknowledgement before it answers, and sends the outstanding receipts of earlier runs when it starts.
 * If the record fails, messages are temporarily refused, and the next submission opens it again.
 *
 *   created --listen--> opening --the record was read--> open --close--> closed
 *                          +--failed--> created, with handlers --submit--> opening
 */
class SimulatedCarrier implements Carrier {
  readonly id: CarrierId
  readonly window: number
  readonly #folder: string
  readonly #delayMilliseconds: number
  readonly #clock: Clock
  readonly #report: (problem: unknown) => void
  /** Name of this run, which makes the carrier's ids unique. */
  readonly #run = randomBytes(6).toString('hex')
  readonly #ownership: Owners
  readonly #queue: SubmissionQueue
  #mode: CarrierMode = 'running'
  /** Number of accepted messages. */
  #position = 0
  #handlers: CarrierHandlers | undefined
  #link: Link | undefined
  #opening: Promise<void> | undefined
  #isClosed = false
  /** True once the record may not be opened any more. */
  #hasEnded = false

  constructor(settings: SimulatedCarrierSettings) {
    const { id = 'simulator', window = 1000, delayMilliseconds = 1000, report = console.error } = settings
    this.id = nameOf(id)
    this.window = window
    this.#folder = settings.folder
    this.#delayMilliseconds = delayMilliseconds
    this.#clock = settings.clock ?? machineClock
    this.#report = report
    this.#ownership = ownersIn(settings.folder)
    this.#ownership.own(this.#run)
    this.#queue = new SubmissionQueue(new Pace(settings.perSecond), (batch) => this.#accept(batch))
  }

  listen(handlers: CarrierHandlers): void {
    this.#handlers = handlers
    void this.#open(handlers)
  }

  submit(messages: readonly Submission[], answered: Waiting['answered']): void {
    this.#queue.add(messages.map((message) => ({ message, answered })))
    if (this.#isClosed) setImmediate(() => this.#refuse(this.#queue.shut()))
    else if (this.#handlers !== undefined) void this.#open(this.#handlers)
  }

  room(): number {
    return Math.max(0, this.window - this.#queue.unanswered)
  }

  handBack(): void {
    // There is nothing to hand back: every submission is accepted within its turn, or at the pace of the carrier.
  }

  availability(): Availability {
    return 'available'
  }

  onAvailability(): void {
    // The availability of a simulated carrier never changes.
  }

  mode(): CarrierMode {
    return this.#mode
  }

  setMode(mode: CarrierMode): void {
    this.#mode = mode
  }

  observe(): void {
    // There is no network to observe.
  }

  status(): undefined {
    return undefined
  }

  responseTime(): undefined {
    return undefined
  }

  async close(deadline: Promise<unknown>): Promise<void> {
    this.#isClosed = true
    await Promise.race([this.#queue.quiet(), deadline])
    this.#refuse(this.#queue.shut())
    await Promise.race([this.#opening?.then(() => this.#link?.sender.stop()), deadline])
    this.#hasEnded = true
    this.#link?.record.close()
    this.#link = undefined
    this.#ownership.release()
  }

  // Record

  /** Opens the record. If that fails, messages are temporarily refused and the next submission tries again. */
  #open(handlers: CarrierHandlers): Promise<void> {
    return (this.#opening ??= this.#openLink(handlers).catch((problem: unknown) => {
      this.#opening = undefined
      this.#report(problem)
      this.#refuse(this.#queue.shut())
    }))
  }

  async #openLink(handlers: CarrierHandlers): Promise<void> {
    this.#ownership.takeOver()
    const clock = this.#clock
    const { owed, open } = await readRecord(this.#folder, this.#ownership, clock)
    if (this.#hasEnded) return
    const record = open()
    this.#ownership.releaseExcept(new Set([this.#run, ...owed.map(({ reference }) => runOf(reference))]))
    const sender = new ReceiptSender(this.id, this.#delayMilliseconds, { record, clock }, handlers, this.#report)
    sender.schedule(owed, 0)
    this.#link = { record, sender }
    this.#queue.open()
  }

  // Submissions

  #refuse(submissions: readonly Waiting[]): void {
    this.#queue.answer(submissions, () => 'refused-for-now')
  }

  #accept(batch: readonly Waiting[]): void {
    if (this.#link !== undefined) this.#recordBatch(this.#link, batch)
    else this.#refuse(batch)
  }

  /** Records a batch and answers it. */
  #recordBatch({ record: submissions, sender }: Link, batch: readonly Waiting[]): void {
    const at = this.#clock.now()
    const decided = batch.map((waiting): Decided => this.#decide(waiting, submissions, at))
    try {
      submissions.submitted(at, decided)
    } catch (problem) {
      this.#report(problem)
      // A message that may be in the record must not be submitted again (P-5).
      this.#queue.answer(batch, () => ((problem as NotWritten).torn ? 'unknown' : 'refused-for-now'))
      return
    }
    const receiptFirst = decided.filter((one) => one.receiptFirst)
    const others = receiptFirst.length === 0 ? decided : decided.filter((one) => !one.receiptFirst)
    if (receiptFirst.length > 0) void this.#sendFirst(sender, receiptFirst)
    sender.schedule(owedOf(others), this.#delayMilliseconds)
    this.#answer(others)
  }

  #decide(waiting: Waiting, record: SubmissionRecord, at: Owed['at']): Decided {
    const { id, from, to } = waiting.message
    const simulated = outcomeOf(to)
    const isRefused = simulated.refusals > 0 && record.refusals(id) < simulated.refusals
    const answer = isRefused ? 'refused-for-now' : simulated.answer
    const reference = answer === 'accepted' ? referenceAt(this.#run, this.#position++) : undefined
    const isOwed = reference !== undefined && simulated.receipts.length > 0
    // An alphanumeric sender cannot receive replies.
    const mayReach = from === undefined || !isNameOfSender(from)
    const replies = isOwed && mayReach && simulated.reply !== undefined && record.mayReply(to, from, at)
    const reply = replies ? { to: from, at: secondsAfter(at, (2 * this.#delayMilliseconds) / 1000) } : undefined
    if (reply !== undefined) record.addReply(to, reply) // counts for the next message of this batch
    const owed = isOwed ? { reference, to, at, nth: 0, reply } : undefined
    return { id, from, to, reference, answer, reply, waiting, owed, receiptFirst: simulated.receiptFirst && isOwed }
  }

  async #sendFirst(sender: ReceiptSender, receiptFirst: readonly Decided[]): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, receiptFirstMilliseconds)))
    await Promise.race([sender.deliver(owedOf(receiptFirst)), late])
    clearTimeout(timer)
    this.#answer(receiptFirst)
  }

  #answer(decided: readonly Decided[]): void {
    this.#queue.answer(
      decided.map(({ waiting }) => waiting),
      (_, at) => answerOf(decided[at]),
    )
  }
}

/** Creates a carrier without a network. Throws if the folder cannot be used, or the id is not a carrier name. */
export const simulatedCarrier = (settings: SimulatedCarrierSettings): Carrier => new SimulatedCarrier(settings)

const answerOf = (one: Decided | undefined) => {
  if (one?.reference !== undefined) return { reference: one.reference }
  return one === undefined || one.answer === 'accepted' ? 'unknown' : one.answer
}

const owedOf = (decided: readonly Decided[]): readonly Owed[] => decided.flatMap(({ owed }) => owed ?? [])

function nameOf(text: string): CarrierId {
  const id = carrierId(text)
  if (id === undefined)
    throw new Error(`${JSON.stringify(text)} is not a carrier name; expected 1 to 32 of a-z, 0-9 and '-'`)
  return id
}

function ownersIn(folder: string): Owners {
  try {
    mkdirSync(dirname(folder), { recursive: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 }) // parent folders keep the default mode
    return owners(folder)
  } catch (cause) {
    throw new Error(`the simulated carrier cannot keep its record in ${folder}: ${(cause as Error).message}`, { cause })
  }
}

interface Parameter {
  readonly setting: 'delayMilliseconds' | 'window' | 'perSecond'
  readonly description: string
  readonly min: number
  readonly max: number
}

const PARAMETERS: Readonly<Record<string, Parameter>> = {
  delayMs: {
    setting: 'delayMilliseconds',
    description: 'milliseconds from a submission to its receipt',
    min: 0,
    max: 86_400_000,
  },
  window: { setting: 'window', description: 'submissions that may be unanswered', min: 1, max: 100_000 },
  perSecond: { setting: 'perSecond', description: 'submissions taken a second', min: 1, max: 1_000_000 },
}

/**
 * Parses a URL such as `simulator:` or `simulator:?delayMs=0&window=500`. Throws an Error that states the problem and
 * lists the parameters.
 */
export function simulatorSettingsFromUrl(url: string): Pick<SimulatedCarrierSettings, Parameter['setting']> {
  const [, query] = /^simulator:(?:\?(.*))?$/s.exec(url) ?? fail(url, 'expected simulator:?name=value&…')
  const parameters = [...new URLSearchParams(query ?? '')]
  const twice = parameters.find(([name], at) => parameters.findIndex(([other]) => other === name) < at)
  if (twice !== undefined) fail(url, `${twice[0]} is given twice`)
  return Object.fromEntries(parameters.map(([name, value]) => settingOf(url, name, value)))
}

function settingOf(url: string, name: string, value: string): [string, number] {
  const parameter = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined
  if (parameter === undefined) return fail(url, `unknown parameter ${JSON.stringify(name)}`)
  const { setting, min, max } = parameter
  if (!/^\d{1,9}$/.test(value) || Number(value) < min || Number(value) > max) {
    return fail(url, `${name} is ${JSON.stringify(value)}; expected a whole number from ${min} to ${max}`)
  }
  return [setting, Number(value)]
}

function fail(url: string, reason: string): never {
  const choices = Object.entries(PARAMETERS).map(
    ([name, { description, min, max }]) => `${name} (${description}, a whole number from ${min} to ${max})`,
  )
  throw new Error(`The carrier ${JSON.stringify(url)} cannot be used: ${reason}. Parameters: ${choices.join(', ')}.`)
}
