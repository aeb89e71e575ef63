import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Pace } from '@gateway/carrier-kit'
import { carrierId, type Carrier, type CarrierHandlers, type CarrierId, type CarrierMode } from '@gateway/core/dispatch'
import { isNameOfSender } from '@gateway/core/messages'
import { instant, secondsAfter, type Clock } from '@gateway/core/time'
import { outcomeOf } from './outcomes.ts'
import { owners, type Owners } from './owners.ts'
import { referenceAt, runOf } from './past-submissions.ts'
import { receiptSender, type ReceiptSender } from './receipt-sender.ts'
import type { NotWritten } from './record-file.ts'
import { readRecord, type Owed, type SubmissionRecord, type Submitted } from './record.ts'
import { submissionQueue, type Waiting } from './submission-queue.ts'

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
 * Creates a carrier without a network; the number of a message decides its outcome (`outcomes.ts`). The carrier records
 * each submission and acknowledgement before it answers, and sends the outstanding receipts of earlier runs when it
 * starts. Throws if the folder cannot be used. If the record fails later, messages are refused for now.
 */
export function simulatedCarrier(settings: SimulatedCarrierSettings): Carrier {
  const { folder, delayMilliseconds = 1000, window = 1000, report = console.error } = settings
  const { clock = machineClock } = settings
  const id = nameOf(settings.id ?? 'simulator')
  const run = randomBytes(6).toString('hex')
  const ownership = ownersIn(folder)
  ownership.own(run)
  const queue = submissionQueue(new Pace(settings.perSecond), accept)
  let mode: CarrierMode = 'running'
  let position = 0
  let handlers: CarrierHandlers | undefined
  let link: Link | undefined
  let opening: Promise<void> | undefined
  let closed = false
  let ended = false

  /** Opens the record. If that fails, messages are refused for now and the next submission tries again. */
  function open(to: CarrierHandlers): Promise<void> {
    return (opening ??= openLink(to).catch((problem: unknown) => {
      opening = undefined
      report(problem)
      refuse(queue.shut())
    }))
  }

  async function openLink(to: CarrierHandlers): Promise<void> {
    ownership.takeOver()
    const { owed, open } = await readRecord(folder, ownership, clock)
    if (ended) return
    const record = open()
    ownership.releaseExcept(new Set([run, ...owed.map(({ reference }) => runOf(reference))]))
    const sender = receiptSender(id, delayMilliseconds, { record, clock }, to, report)
    sender.schedule(owed, 0)
    link = { record, sender }
    queue.open()
  }

  const refuse = (submissions: readonly Waiting[]): void => queue.answer(submissions, () => 'refused-for-now')

  function accept(batch: readonly Waiting[]): void {
    if (link !== undefined) recordBatch(link, batch)
    else refuse(batch)
  }

  /** Records a batch and answers it. */
  function recordBatch({ record: submissions, sender }: Link, batch: readonly Waiting[]): void {
    const at = clock.now()
    const decided = batch.map((waiting): Decided => decide(waiting, submissions, at))
    try {
      submissions.submitted(at, decided)
    } catch (problem) {
      report(problem)
      // A message that may be in the record must not be submitted again (P-5).
      queue.answer(batch, () => ((problem as NotWritten).torn ? 'unknown' : 'refused-for-now'))
      return
    }
    const receiptFirst = decided.filter((one) => one.receiptFirst)
    const others = receiptFirst.length === 0 ? decided : decided.filter((one) => !one.receiptFirst)
    if (receiptFirst.length > 0) void sendFirst(sender, receiptFirst)
    sender.schedule(owedOf(others), delayMilliseconds)
    answer(others)
  }

  function decide(waiting: Waiting, record: SubmissionRecord, at: Owed['at']): Decided {
    const { id: message, from, to } = waiting.message
    const simulated = outcomeOf(to)
    const isRefused = simulated.refusals > 0 && record.refusals(message) < simulated.refusals
    const outcome = isRefused ? 'refused-for-now' : simulated.answer
    const reference = outcome === 'accepted' ? referenceAt(run, position++) : undefined
    const isOwed = reference !== undefined && simulated.receipts.length > 0
    // An alphanumeric sender cannot receive replies.
    const mayReach = from === undefined || !isNameOfSender(from)
    const replies = isOwed && mayReach && simulated.reply !== undefined && record.mayReply(to, from, at)
    const reply = replies ? { to: from, at: secondsAfter(at, (2 * delayMilliseconds) / 1000) } : undefined
    if (reply !== undefined) record.addReply(to, reply) // counts for the next message of this batch
    const owed = isOwed ? { reference, to, at, nth: 0, reply } : undefined
    return {
      id: message,
      from,
      to,
      reference,
      answer: outcome,
      reply,
      waiting,
      owed,
      receiptFirst: simulated.receiptFirst && isOwed,
    }
  }

  async function sendFirst(sender: ReceiptSender, receiptFirst: readonly Decided[]): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, receiptFirstMilliseconds)))
    await Promise.race([sender.deliver(owedOf(receiptFirst)), late])
    clearTimeout(timer)
    answer(receiptFirst)
  }

  function answer(decided: readonly Decided[]): void {
    queue.answer(
      decided.map(({ waiting }) => waiting),
      (_, at) => answerOf(decided[at]),
    )
  }

  return {
    id,
    window,
    room: () => Math.max(0, window - queue.unanswered()),
    handBack: () => undefined,
    availability: () => 'available',
    onAvailability: () => undefined,
    mode: () => mode,
    setMode: (next) => void (mode = next),
    observe: () => undefined,
    status: () => undefined,
    responseTime: () => undefined,
    listen(to) {
      handlers = to
      void open(to)
    },
    submit(messages, answered) {
      queue.add(messages.map((message) => ({ message, answered })))
      if (closed) setImmediate(() => refuse(queue.shut()))
      else if (handlers !== undefined) void open(handlers)
    },
    async close(deadline) {
      closed = true
      await Promise.race([queue.quiet(), deadline])
      refuse(queue.shut())
      await Promise.race([opening?.then(() => link?.sender.stop()), deadline])
      ended = true
      link?.record.close()
      link = undefined
      ownership.release()
    },
  }
}

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
  if (parameter === undefined) return fail(url, `there is no parameter ${JSON.stringify(name)}`)
  const { setting, min, max } = parameter
  if (!/^\d{1,9}$/.test(value) || Number(value) < min || Number(value) > max) {
    return fail(url, `${name} is ${JSON.stringify(value)}`)
  }
  return [setting, Number(value)]
}

function fail(url: string, reason: string): never {
  const choices = Object.entries(PARAMETERS).map(
    ([name, { description, min, max }]) => `${name} (${description}, a whole number from ${min} to ${max})`,
  )
  throw new Error(`The carrier ${JSON.stringify(url)} cannot be used: ${reason}. Parameters: ${choices.join(', ')}.`)
}
