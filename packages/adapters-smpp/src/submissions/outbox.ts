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

/** What is submitted, until it is answered. */
export interface Outbox {
  submit(messages: readonly Submission[], answered: Answered): void
  /** Sends what may leave now. */
  pump(): void
  /** Gives the answers that have come so far. */
  giveAnswers(): void
  /**
   * Refuses for now what has not left, but the first `keep` that never began; messages of which a part has left go
   * on.
   */
  handBack(keep?: number): void
  /** The same, and from now on. */
  shut(): void
  /** Sends nothing more of any message. */
  abandon(): void
  /** Resolves when everything is answered. */
  quiet(): Promise<void>
  waiting(): number
  stop(): void
}

const tickMilliseconds = 100
const nowMilliseconds = (): number => performance.now()

/** `refused` is told what the carrier, or the encoding, had against a part. */
export function createOutbox(
  settings: SmppSettings,
  sessions: () => readonly Session[],
  { pace, breaker }: { readonly pace: Pace; readonly breaker: CircuitBreaker },
  references: MessageReferences,
  refused: (why: string) => void,
): Outbox {
  const jobs = createWaitingJobs()
  const answers = createAnswers()
  /** Messages whose parts leave one behind the other over a session. */
  const sending = new Map<Session, Job>()
  let movedAt = nowMilliseconds()
  let isShut = false
  let isPaced = false
  let timer: NodeJS.Timeout | undefined
  let isPumpDue = false
  /** Of the text that was encoded last, if it is one segment that says nothing of its recipient. */
  let encoded:
    { readonly body: Body; readonly flash: true | undefined; readonly segments: readonly Segment[] } | undefined

  function roomiest(): Session | undefined {
    let best: Session | undefined
    for (const session of sessions()) if (session.room() > (best?.room() ?? 0)) best = session
    return best
  }

  const nextSession = (): Session | undefined =>
    sending.size === 0 ? roomiest() : ([...sending.keys()].find((one) => one.room() > 0) ?? roomiest())

  /** The message whose parts a session sends, else the next one. */
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
      // Until a new carrier is known what was handed over may leave.
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

  /** Once for all that is answered together, and before the turn of the event loop is over. */
  function pumpSoon(): void {
    if (isPumpDue) return
    isPumpDue = true
    queueMicrotask(() => {
      isPumpDue = false
      pump()
    })
  }

  /** The session is gone: what it had not sent goes over another. */
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

  /** Messages of one send share their body: it is encoded once for neighbours. */
  function segmentsOf({ body, to, flash }: Submission): readonly Segment[] {
    if (encoded?.body === body && encoded.flash === flash) return encoded.segments
    const segments = encodeBody(body, settings, (limit) => references.next(to, limit), flash === true)
    const [first] = segments
    const isAlone = segments.length === 1 && first?.hasHeader === false && first.sar === undefined
    if (isAlone) encoded = { body, flash, segments }
    return segments
  }

  function sendNext(session: Session, job: Job, now: number): void {
    const validSeconds = secondsLeft(job, now)
    // What has expired here goes back to the queue, where it ends.
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
      // Without an id no receipt will find it.
      return { reference: outcome.messageId === '' ? `none-${job.message.id}-${part + 1}` : outcome.messageId }
    }
    refused(commandStatusName(outcome.status))
    const is = errorClassOf(outcome.status, settings.errors)
    if (is === 'final') return 'refused'
    if (is === 'throttle') pace.throttled(now)
    // What else it has may have been taken: its answers are waited for.
    if (is === 'link') session.close(`a request was refused: ${commandStatusName(outcome.status)}`)
    if (is === 'for-now') job.notBefore = now + Math.min(500 * 2 ** job.tries++, 8000)
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

  /** Nothing more of it is sent. */
  function withdraw(job: Job): void {
    job.toSend = []
    jobs.removeAgain(job)
    for (const [session, other] of sending) if (other === job) sending.delete(session)
  }

  /** While nothing moves, what waits is given back after a time; what the carrier has a part of, after its own. */
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
    const kept = Math.max(0, keep - unsent.length)
    for (const job of [...unsent.slice(keep), ...jobs.takeNew(kept)]) giveUp(job)
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

/** Gives the answers of one turn of the event loop together, in one call for each callback. */
export interface Answers {
  /** So many answers more are owed. */
  expect(count: number): void
  /** Nothing of the message is under way any more. */
  finish(job: Job): void
  /** Gives what waits for the end of the turn. */
  give(): void
  unanswered(): number
  /** Resolves when everything is answered. */
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
