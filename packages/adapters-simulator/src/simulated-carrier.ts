import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { carrierId, type Carrier, type CarrierHandlers, type CarrierId } from '@gateway/core/dispatch'
import { isNameOfSender } from '@gateway/core/messages'
import { instant, secondsAfter, type Clock } from '@gateway/core/time'
import { outcomeOf } from './outcomes.ts'
import { owners, type Owners } from './owners.ts'
import { referenceAt, runOf } from './past-submissions.ts'
import { receiptSender, type ReceiptSender } from './receipt-sender.ts'
import type { NotWritten } from './record-file.ts'
import { readRecord, type Owed, type SubmissionRecord, type Submitted } from './record.ts'
import { submissionQueue, rateLimit, type Waiting } from './submission-queue.ts'

export interface SimulatedCarrierSettings {
  /** Where the record is kept; made if it is not there. Several processes may use one folder at the same time. */
  readonly folder: string
  /** The carrier's name in the configuration. Default `simulator`. */
  readonly id?: string
  /**
   * From a submission to its receipt, and from the acknowledgement of that to a second receipt or a reply. Default
   * 1000; 0: in the next turns of the event loop.
   */
  readonly delayMilliseconds?: number
  /** Default 1000. */
  readonly window?: number
  /** It takes at most so many submissions a second. Default: as many as come. */
  readonly perSecond?: number
  /** The time of submissions and receipts. Default: that of this machine. */
  readonly clock?: Clock
  /** Is told when the record cannot be read or written. Default: standard error. */
  readonly report?: (problem: unknown) => void
}

interface Link {
  readonly record: SubmissionRecord
  readonly sender: ReceiptSender
}

interface Taken extends Submitted {
  readonly waiting: Waiting
  readonly owed: Owed | undefined
  readonly receiptFirst: boolean
}

const machineClock: Clock = { now: () => instant(Date.now()) }

/** How long a receipt that precedes its answer may delay that answer. */
const receiptFirstMilliseconds = 1000

/**
 * A carrier without a network (`outcomes.ts`). It records each submission and acknowledgement before it answers, and
 * sends at its start what earlier runs owe. Throws if the folder cannot be used; later, without a record, messages are
 * refused for now.
 */
export function simulatedCarrier(settings: SimulatedCarrierSettings): Carrier {
  const { folder, delayMilliseconds = 1000, window = 1000, report = console.error } = settings
  const { clock = machineClock } = settings
  const id = nameOf(settings.id ?? 'simulator')
  const run = randomBytes(6).toString('hex')
  const owning = ownersIn(folder)
  owning.own(run)
  const queue = submissionQueue(rateLimit(settings.perSecond), take)
  let position = 0
  let handlers: CarrierHandlers | undefined
  let link: Link | undefined
  let opening: Promise<void> | undefined
  let closed = false
  let ended = false

  /** If it fails, the next submission retries. */
  function open(to: CarrierHandlers): Promise<void> {
    return (opening ??= openLink(to).catch((problem: unknown) => {
      opening = undefined
      report(problem)
      refuse(queue.shut())
    }))
  }

  async function openLink(to: CarrierHandlers): Promise<void> {
    owning.takeOver()
    const { owed, open } = await readRecord(folder, owning, clock)
    if (ended) return
    const record = open()
    owning.keep(new Set([run, ...owed.map(({ reference }) => runOf(reference))]))
    const sender = receiptSender(id, delayMilliseconds, { record, clock }, to, report)
    sender.owe(owed, 0)
    link = { record, sender }
    queue.open()
  }

  const refuse = (ones: readonly Waiting[]): void => queue.answer(ones, () => 'refused-for-now')

  function take(batch: readonly Waiting[]): void {
    if (link !== undefined) takeOver(link, batch)
    else refuse(batch)
  }

  function takeOver({ record, sender }: Link, batch: readonly Waiting[]): void {
    const at = clock.now()
    const taken = batch.map((waiting): Taken => decide(waiting, record, at))
    try {
      record.submitted(at, taken)
    } catch (problem) {
      report(problem)
      // What may be on record may not be submitted again (P-5).
      queue.answer(batch, () => ((problem as NotWritten).torn ? 'unknown' : 'refused-for-now'))
      return
    }
    const receiptFirst = taken.filter((one) => one.receiptFirst)
    const others = receiptFirst.length === 0 ? taken : taken.filter((one) => !one.receiptFirst)
    if (receiptFirst.length > 0) void sendFirst(sender, receiptFirst)
    sender.owe(owedOf(others), delayMilliseconds)
    answer(others)
  }

  function decide(waiting: Waiting, record: SubmissionRecord, at: Owed['at']): Taken {
    const { id: message, from, to } = waiting.message
    const simulated = outcomeOf(to)
    const isRefused = simulated.refusals > 0 && record.refusals(message) < simulated.refusals
    const outcome = isRefused ? 'refused-for-now' : simulated.answer
    const reference = outcome === 'accepted' ? referenceAt(run, position++) : undefined
    const isOwed = reference !== undefined && simulated.receipts.length > 0
    // Nobody can reply to a name.
    const isHeard = from === undefined || !isNameOfSender(from)
    const answers = isOwed && isHeard && simulated.reply !== undefined && record.mayAnswer(to, from, at)
    const reply = answers ? { to: from, at: secondsAfter(at, (2 * delayMilliseconds) / 1000) } : undefined
    if (reply !== undefined) record.answers(to, reply) // counts for the next one of this batch
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

  async function sendFirst(sender: ReceiptSender, receiptFirst: readonly Taken[]): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, receiptFirstMilliseconds)))
    await Promise.race([sender.deliver(owedOf(receiptFirst)), late])
    clearTimeout(timer)
    answer(receiptFirst)
  }

  function answer(ones: readonly Taken[]): void {
    queue.answer(
      ones.map(({ waiting }) => waiting),
      (_, at) => answerOf(ones[at]),
    )
  }

  return {
    id,
    window,
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
      owning.leave()
    },
  }
}

const answerOf = (one: Taken | undefined) => {
  if (one?.reference !== undefined) return { reference: one.reference }
  return one === undefined || one.answer === 'accepted' ? 'unknown' : one.answer
}

const owedOf = (taken: readonly Taken[]): readonly Owed[] => taken.flatMap(({ owed }) => owed ?? [])

function nameOf(text: string): CarrierId {
  const id = carrierId(text)
  if (id === undefined) throw new Error(`${JSON.stringify(text)} is no name of a carrier: 1 to 32 of a-z, 0-9 and '-'`)
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
  readonly what: string
  readonly min: number
  readonly max: number
}

const PARAMETERS: Readonly<Record<string, Parameter>> = {
  delayMs: {
    setting: 'delayMilliseconds',
    what: 'milliseconds from a submission to its receipt',
    min: 0,
    max: 86_400_000,
  },
  window: { setting: 'window', what: 'submissions that may be unanswered', min: 1, max: 100_000 },
  perSecond: { setting: 'perSecond', what: 'submissions taken a second', min: 1, max: 1_000_000 },
}

/**
 * What `simulator:` stands for, with parameters as `simulator:?delayMs=0&window=500`. Throws an Error that says what is
 * wrong and what there is to choose from.
 */
export function simulatorSettingsFromUrl(url: string): Pick<SimulatedCarrierSettings, Parameter['setting']> {
  const [, query] = /^simulator:(?:\?(.*))?$/s.exec(url) ?? fail(url, 'it does not read simulator:?name=value&…')
  const given = [...new URLSearchParams(query ?? '')]
  const twice = given.find(([name], at) => given.findIndex(([other]) => other === name) < at)
  if (twice !== undefined) fail(url, `${twice[0]} is given twice`)
  return Object.fromEntries(given.map(([name, value]) => settingOf(url, name, value)))
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

function fail(url: string, why: string): never {
  const choices = Object.entries(PARAMETERS).map(
    ([name, { what, min, max }]) => `${name} (${what}, a whole number from ${min} to ${max})`,
  )
  throw new Error(`The carrier ${JSON.stringify(url)} cannot be used: ${why}. Parameters: ${choices.join(', ')}.`)
}
