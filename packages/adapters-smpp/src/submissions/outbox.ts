import { setImmediate as nextTurn } from 'node:timers'
import type { CircuitBreaker, CircuitOutcome, Submission, SubmissionAnswer } from '@gateway/core/dispatch'
import type { Body } from '@gateway/core/messages'
import { commandStatusName } from '@gateway/smpp'
import type { Pace } from '../session/pace.ts'
import type { RequestOutcome, Session } from '../session/session.ts'
import { errorClassOf, type SmppSettings } from '../settings.ts'
import { encodeBody, type Segment, type MessageReferences } from '../text/encode-body.ts'
import { buildSubmit } from './build-submit.ts'
import {
  createJob,
  isWorthAnotherTry,
  prepare,
  prepareMissing,
  createWaitingJobs,
  isUntaken,
  secondsLeft,
  messageOutcome,
  type Answered,
  type Job,
  type PartOutcome,
  type MessageOutcome,
} from './job.ts'

/** Submitted messages until they are answered. */
export interface Outbox {
  submit(messages: readonly Submission[], answered: Answered): void
  /** Sends the parts that may be sent now. */
  pump(): void
  /** Reports the answers received so far. */
  giveAnswers(): void
  /**
   * Refuses unsent messages for now, except the first `keep` of them. Messages of which a part was sent continue.
   */
  handBack(keep?: number): void
  /** Refuses all unsent messages for now, also those submitted later. */
  shut(): void
  /** Stops sending parts of any message. */
  abandon(): void
  /** Resolves when all messages are answered. */
  quiet(): Promise<void>
  waiting(): number
  stop(): void
}

const tickMilliseconds = 100
const nowMilliseconds = (): number => performance.now()

/** Creates an outbox. `refused` is called with the reason why the carrier, or the encoding, refused a part. */
export function createOutbox(
  settings: SmppSettings,
  sessions: () => readonly Session[],
  { pace, breaker }: { readonly pace: Pace; readonly breaker: CircuitBreaker },
  references: MessageReferences,
  refused: (reason: string) => void,
): Outbox {
  const jobs = createWaitingJobs()
  const answers = createAnswers()
  /** Message whose parts are being sent over a session, by session. */
  const sending = new Map<Session, Job>()
  let movedAt = nowMilliseconds()
  let isShut = false
  let isPaced = false
  let timer: NodeJS.Timeout | undefined
  let isPumpDue = false
  /** Text that was encoded last, if it is one segment that does not depend on its recipient. */
  let encoded: { readonly body: Body; readonly flash: boolean; readonly segments: readonly Segment[] } | undefined

  function roomiest(): Session | undefined {
    let best: Session | undefined
    for (const session of sessions()) if (session.room() > (best?.room() ?? 0)) best = session
    return best
  }

  const nextSession = (): Session | undefined =>
    sending.size === 0 ? roomiest() : ([...sending.keys()].find((one) => one.room() > 0) ?? roomiest())

  /** Returns the message whose parts a session is sending, or the next one. */
  function nextFor(session: Session, now: number): Job | undefined {
    const current = sending.get(session)
    if (current !== undefined) return current
    const job = jobs.take(now)
    if (job !== undefined && job.toSend.length > 1) sending.set(session, job)
    return job
  }

  function pump(): void {
    const now = nowMilliseconds()
    isPaced = false
    for (const session of sending.keys()) if (session.room() === 0 && !sessions().includes(session)) release(session)
    while (jobs.size() + sending.size > 0) {
      // A closed circuit never stops messages that were handed over, even to a new carrier.
      if (breaker.state !== 'closed' && breaker.room() === 0) break
      const session = nextSession()
      if (session === undefined || !(sending.has(session) || jobs.hasReady(now))) break
      isPaced = pace.take(1, now) === 0
      if (isPaced) break
      const job = nextFor(session, now)
      if (job === undefined) break
      sendNext(session, job, now)
    }
    plan(now)
  }

  /** Pumps once for all answers of a turn of the event loop, before the turn ends. */
  function pumpSoon(): void {
    if (isPumpDue) return
    isPumpDue = true
    queueMicrotask(() => {
      isPumpDue = false
      pump()
    })
  }

  /** Releases the message of an ended session, so that its unsent parts are sent over another. */
  function release(session: Session): void {
    const job = sending.get(session)
    sending.delete(session)
    if (job !== undefined && job.toSend.length > 0) jobs.addAgain(job)
  }

  function plan(now: number): void {
    if (timer !== undefined || answers.unanswered() === 0) return
    const wait = isPaced ? Math.min(tickMilliseconds, Math.max(2, pace.nextAt(now) - now)) : tickMilliseconds
    timer = setTimeout(() => {
      timer = undefined
      breaker.look(nowMilliseconds())
      expire(nowMilliseconds())
      pump()
    }, wait)
  }

  function add(message: Submission, answered: Answered, since: number): void {
    const job = createJob(message, answered, since)
    try {
      if (!isShut) prepare(job, segmentsOf(message))
    } catch (problem) {
      refused(`a text cannot be encoded: ${(problem as Error).message}`)
      job.outcomes.push('refused')
    }
    if (job.segments.length === 0) answers.finish(job)
    else jobs.add(job)
  }

  /** Encodes a text. Messages of one send share their body, which is encoded once for consecutive messages. */
  function segmentsOf({ body, to, options }: Submission): readonly Segment[] {
    const flash = options?.flash === true
    if (encoded?.body === body && encoded.flash === flash) return encoded.segments
    const segments = encodeBody(body, settings, (limit) => references.next(to, limit), flash)
    const [first] = segments
    const isAlone = segments.length === 1 && first?.hasHeader === false && first.sar === undefined
    if (isAlone) encoded = { body, flash, segments }
    return segments
  }

  function sendNext(session: Session, job: Job, now: number): void {
    const validSeconds = secondsLeft(job, now)
    // A message that has expired here returns to the queue, which ends it.
    if (validSeconds !== undefined && validSeconds <= 0 && isUntaken(job)) {
      giveUp(job)
      return
    }
    const part = job.toSend.shift()
    if (job.toSend.length === 0) sending.delete(session)
    const segment = part === undefined ? undefined : job.segments[part]
    if (part === undefined || segment === undefined) return
    movedAt = now
    job.underWay++
    const departure = breaker.submitted(now)
    const build = (sequence: number) => buildSubmit(settings, job.message, segment, sequence, validSeconds)
    const settle = (outcome: RequestOutcome): void => {
      const at = nowMilliseconds()
      breaker.settled(departure, circuitOutcomeOf(job, outcome, at - now), at)
      decide(job, part, partOutcome(session, job, part, outcome, at), at)
      pumpSoon()
    }
    if (session.request(build, settle) === 'sent') return
    breaker.settled(departure, 'unsent', now)
    refused('a field does not fit its place in a submit_sm')
    decide(job, part, 'refused', now)
  }

  function partOutcome(session: Session, job: Job, part: number, outcome: RequestOutcome, now: number): PartOutcome {
    if (outcome === 'unsent') return 'retry'
    if (outcome === 'unknown' || (outcome.command !== 'submit_sm_resp' && outcome.status === 0)) return 'unknown'
    if (outcome.status === 0 && outcome.command === 'submit_sm_resp') {
      pace.accepted(now)
      // Without an id no receipt can match the message.
      return { reference: outcome.messageId === '' ? `none-${job.message.id}-${part + 1}` : outcome.messageId }
    }
    refused(commandStatusName(outcome.status))
    const errorClass = errorClassOf(outcome.status, settings.errors)
    if (errorClass === 'final') return 'refused'
    if (errorClass === 'throttle') pace.throttled(now)
    // Closed with an unbind, because earlier requests may have been accepted and their answers are still expected.
    if (errorClass === 'link') session.close(`a request was refused: ${commandStatusName(outcome.status)}`)
    if (errorClass === 'for-now') job.notBefore = now + Math.min(500 * 2 ** job.tries++, 8000)
    else job.notBefore = now
    return 'retry'
  }

  /**
   * Classifies an outcome for the circuit breaker. A refusal because of the connection counts as one for now. A request
   * that ends with its connection before its answer was due counts as unsent, because a carrier that was cut off for a
   * moment answers at once when it is back (P-17). The parts of a message, and its further attempts, are one refusal.
   */
  function circuitOutcomeOf({ message, tries }: Job, outcome: RequestOutcome, elapsed: number): CircuitOutcome {
    if (outcome === 'unsent' || (outcome === 'unknown' && elapsed < settings.silentSeconds * 1000)) return 'unsent'
    if (outcome === 'unknown' || (outcome.command !== 'submit_sm_resp' && outcome.status === 0)) return 'unanswered'
    if (outcome.status === 0) return 'taken'
    const is = errorClassOf(outcome.status, settings.errors)
    if (is === 'throttle') return 'throttled'
    if (is === 'final') return 'taken'
    return is === 'for-now' && (message.refusedBefore === true || tries > 0) ? 'refused-again' : 'refused-for-now'
  }

  function decide(job: Job, part: number, outcome: PartOutcome, now: number): void {
    job.underWay--
    job.outcomes[part] = outcome
    if (typeof outcome === 'object' || outcome === 'unknown') job.takenSince ??= now
    if (outcome === 'refused') withdraw(job)
    if (job.underWay > 0 || isSending(job)) return
    if (isWorthAnotherTry(job, settings, isShut, now)) {
      prepareMissing(job)
      jobs.addAgain(job)
    } else answers.finish(job)
  }

  const isSending = (job: Job): boolean =>
    job.toSend.length > 0 && (jobs.hasAgain(job) || [...sending.values()].includes(job))

  /** Stops sending parts of a message. */
  function withdraw(job: Job): void {
    job.toSend = []
    jobs.removeAgain(job)
    for (const [session, other] of sending) if (other === job) sending.delete(session)
  }

  /** Gives up messages that waited too long. Those without a sent part are given up only while nothing is sent. */
  function expire(now: number): void {
    const heldSince = now - settings.holdSeconds * 1000
    for (const job of [...jobs.again()]) {
      const isOver =
        job.takenSince === undefined
          ? movedAt <= heldSince && job.since <= heldSince
          : now - job.takenSince >= settings.partsSeconds * 1000
      if (isOver) giveUp(job)
    }
    while (movedAt <= heldSince) {
      const job = jobs.takeOlder(heldSince)
      if (job === undefined) return
      giveUp(job)
    }
  }

  function giveUp(job: Job): void {
    withdraw(job)
    if (job.underWay === 0) answers.finish(job)
  }

  function handBack(keep = 0): void {
    const unsent = jobs.again().filter(({ takenSince }) => takenSince === undefined)
    const newToKeep = Math.max(0, keep - unsent.length)
    for (const job of [...unsent.slice(keep), ...jobs.takeNew(newToKeep)]) giveUp(job)
  }

  return {
    submit(messages, answered) {
      const since = nowMilliseconds()
      if (answers.unanswered() === 0) movedAt = since
      answers.expect(messages.length)
      for (const message of messages) add(message, answered, since)
      pump()
    },
    pump,
    giveAnswers: () => answers.give(),
    handBack: (keep) => handBack(keep),
    shut() {
      isShut = true
      handBack()
    },
    abandon() {
      for (const job of [...jobs.again(), ...sending.values()]) giveUp(job)
    },
    quiet: () => answers.quiet(),
    waiting: () => jobs.size(),
    stop: () => clearTimeout(timer),
  }
}

/** Reports the answers of one turn of the event loop together, in one call for each callback. */
export interface Answers {
  /** Adds `count` expected answers. */
  expect(count: number): void
  /** Adds the answer of a message of which no part is unanswered. */
  finish(job: Job): void
  /** Reports the collected answers now. */
  give(): void
  unanswered(): number
  /** Resolves when all messages are answered. */
  quiet(): Promise<void>
}

export function createAnswers(): Answers {
  const waiting = new Map<Answered, SubmissionAnswer[]>()
  let unanswered = 0
  let giving: NodeJS.Immediate | undefined
  let quieted: (() => void)[] = []

  function endTurn(): void {
    giving = undefined
    give()
  }

  function give(): void {
    const all = [...waiting]
    waiting.clear()
    for (const [answered, list] of all) {
      unanswered -= list.length
      answered(list)
    }
    if (unanswered > 0) return
    for (const resolve of quieted) resolve()
    quieted = []
  }

  return {
    expect: (count) => void (unanswered += count),
    finish({ message, answered, outcomes }) {
      let list = waiting.get(answered)
      if (list === undefined) waiting.set(answered, (list = []))
      list.push(answerOf(message, messageOutcome(outcomes.length === 0 ? ['retry'] : outcomes)))
      giving ??= nextTurn(endTurn)
    },
    give,
    unanswered: () => unanswered,
    quiet: () => new Promise((resolve) => (unanswered === 0 ? resolve() : void quieted.push(resolve))),
  }
}

function answerOf({ id }: Submission, outcome: MessageOutcome): SubmissionAnswer {
  if (typeof outcome === 'string') return { id, outcome }
  const isWhole = 'accepted' in outcome
  const references = isWhole ? outcome.accepted : outcome.partly
  const answer = { id, outcome: isWhole ? 'accepted' : 'partly', reference: references[0] ?? '' } as const
  return references.length > 1 ? { ...answer, furtherReferences: references.slice(1) } : answer
}
