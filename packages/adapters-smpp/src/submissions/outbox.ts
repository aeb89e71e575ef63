import type { Submission, SubmissionAnswer } from '@gateway/core'
import { commandStatusName } from '../pdu/index.ts'
import { errorClassOf } from '../session/error-classes.ts'
import type { Pace } from '../session/pace.ts'
import type { RequestOutcome, Session } from '../session/session.ts'
import type { SmppSettings } from '../settings.ts'
import { encodeBody, type Segment } from '../text/encode-body.ts'
import type { MessageReferences } from '../text/message-references.ts'
import { buildSubmit } from './build-submit.ts'
import { isWorthCompleting, messageOutcome, type MessageOutcome, type PartOutcome } from './message-outcome.ts'

type Answered = (answers: readonly SubmissionAnswer[]) => void

/** A message of which not all is decided. */
interface Job {
  readonly message: Submission
  readonly answered: Answered
  readonly since: number
  segments: readonly Segment[]
  readonly outcomes: (PartOutcome | undefined)[]
  /** The parts that are still to be sent, the next one first. */
  toSend: number[]
  underWay: number
  tries: number
  /** No part is sent before. */
  notBefore: number
  /** Since when the carrier has, or may have, a part of it. */
  takenSince: number | undefined
}

export interface OutboxEvents {
  refused(status: string): void
}

/** What is submitted, until it is answered. */
export interface Outbox {
  submit(messages: readonly Submission[], answered: Answered): void
  /** Sends what may leave now. */
  pump(): void
  /** Refuses for now what has not left; messages of which a part has left go on. */
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

export function createOutbox(
  settings: SmppSettings,
  sessions: () => readonly Session[],
  pace: Pace,
  references: MessageReferences,
  events: OutboxEvents,
): Outbox {
  let queue: Job[] = []
  let head = 0
  /** Jobs of which parts are to be sent again, the first first. */
  let again: Job[] = []
  const sending = new Map<Session, Job>()
  let unanswered = 0
  let movedAt = nowMilliseconds()
  let isShut = false
  let isPaced = false
  let timer: NodeJS.Timeout | undefined
  let answering: NodeJS.Immediate | undefined
  const answers = new Map<Answered, SubmissionAnswer[]>()
  let quieted: (() => void)[] = []

  function roomiest(): Session | undefined {
    let best: Session | undefined
    for (const session of sessions()) if (session.room() > (best?.room() ?? 0)) best = session
    return best
  }

  /** The message whose parts a session sends, else the next one. */
  function nextFor(session: Session, now: number): Job | undefined {
    const current = sending.get(session)
    if (current !== undefined) return current
    const at = again.findIndex(({ notBefore }) => notBefore <= now)
    const job = at >= 0 ? again.splice(at, 1)[0] : queue[head]
    if (job !== undefined && at < 0) advance()
    if (job !== undefined && job.toSend.length > 1) sending.set(session, job)
    return job
  }

  function advance(): void {
    head++
    if (head < 1024 && head < queue.length) return
    queue = queue.slice(head)
    head = 0
  }

  function pump(): void {
    const now = nowMilliseconds()
    isPaced = false
    for (const session of sending.keys()) if (session.room() === 0 && !sessions().includes(session)) release(session)
    while (queue.length > head || again.length + sending.size > 0) {
      const session =
        sending.size === 0 ? roomiest() : ([...sending.keys()].find((one) => one.room() > 0) ?? roomiest())
      if (session === undefined) break
      const isNext = sending.has(session) || queue.length > head || again.some(({ notBefore }) => notBefore <= now)
      if (!isNext) break
      isPaced = pace.take(1, now) === 0
      if (isPaced) break
      const job = nextFor(session, now)
      if (job === undefined) break
      sendNext(session, job, now)
    }
    plan(now)
  }

  /** The session is gone: what it had not sent goes over another. */
  function release(session: Session): void {
    const job = sending.get(session)
    sending.delete(session)
    if (job !== undefined && job.toSend.length > 0) again.push(job)
  }

  function plan(now: number): void {
    if (timer !== undefined || unanswered === 0) return
    const wait = isPaced ? Math.min(tickMilliseconds, Math.max(2, pace.nextAt(now) - now)) : tickMilliseconds
    timer = setTimeout(() => {
      timer = undefined
      expire(nowMilliseconds())
      pump()
    }, wait)
  }

  function encode(job: Job): void {
    const { body, to } = job.message
    try {
      job.segments = encodeBody(body, settings, (limit) => references.next(to, limit))
    } catch (problem) {
      events.refused(`a text cannot be encoded: ${(problem as Error).message}`)
      job.outcomes.push('refused')
      return
    }
    job.toSend = job.segments.map((_, at) => at)
    job.outcomes.length = job.segments.length
  }

  function sendNext(session: Session, job: Job, now: number): void {
    const part = job.toSend.shift()
    if (job.toSend.length === 0) sending.delete(session)
    const segment = part === undefined ? undefined : job.segments[part]
    if (part === undefined || segment === undefined) return
    movedAt = now
    job.underWay++
    const build = (sequence: number) => buildSubmit(settings, job.message, segment, sequence)
    const sent = session.request(build, (outcome) => settle(session, job, part, outcome))
    if (sent === 'sent') return
    events.refused('a field does not fit its place in a submit_sm')
    decide(job, part, 'refused')
  }

  function settle(session: Session, job: Job, part: number, outcome: RequestOutcome): void {
    decide(job, part, partOutcome(session, job, part, outcome))
    pump()
  }

  function partOutcome(session: Session, job: Job, part: number, outcome: RequestOutcome): PartOutcome {
    const now = nowMilliseconds()
    if (outcome === 'unsent') return 'retry'
    if (outcome === 'unknown' || (outcome.command !== 'submit_sm_resp' && outcome.status === 0)) return 'unknown'
    if (outcome.status === 0 && outcome.command === 'submit_sm_resp') {
      pace.accepted(now)
      // Without an id no receipt will find it.
      return { reference: outcome.messageId === '' ? `none-${job.message.id}-${part + 1}` : outcome.messageId }
    }
    events.refused(commandStatusName(outcome.status))
    const is = errorClassOf(outcome.status, settings.errors)
    if (is === 'final') return 'refused'
    if (is === 'throttle') pace.throttled(now)
    if (is === 'link') session.destroy(`a request was refused: ${commandStatusName(outcome.status)}`)
    if (is === 'for-now') job.notBefore = now + Math.min(500 * 2 ** job.tries++, 8000)
    else job.notBefore = now
    return 'retry'
  }

  function decide(job: Job, part: number, outcome: PartOutcome): void {
    const now = nowMilliseconds()
    job.underWay--
    job.outcomes[part] = outcome
    if (typeof outcome === 'object' || outcome === 'unknown') job.takenSince ??= now
    if (outcome === 'refused') abandon(job)
    if (job.underWay > 0 || isSending(job)) return
    if (isMissing(job) && mayTryAgain(job, now)) tryAgain(job)
    else finish(job)
  }

  const isSending = (job: Job): boolean =>
    job.toSend.length > 0 && (again.includes(job) || [...sending.values()].includes(job))
  const isMissing = ({ outcomes }: Job): boolean => outcomes.some((one) => one === 'retry' || one === undefined)

  function abandon(job: Job): void {
    job.toSend = []
    again = again.filter((other) => other !== job)
    for (const [session, other] of sending) if (other === job) sending.delete(session)
  }

  /** What the carrier has nothing of goes again while that moves, what it has a part of for `partsSeconds`. */
  function mayTryAgain(job: Job, now: number): boolean {
    if (job.outcomes.includes('refused')) return false
    if (isWorthCompleting(job.outcomes)) return now - (job.takenSince ?? now) < settings.partsSeconds * 1000
    return !isShut && job.tries === 0 && now - job.since < settings.holdSeconds * 1000
  }

  function tryAgain(job: Job): void {
    job.toSend = [...job.outcomes.keys()].filter((at) => job.outcomes[at] === 'retry' || job.outcomes[at] === undefined)
    again.push(job)
  }

  /** While nothing moves, what waits is given back after a time; what the carrier has a part of, after its own. */
  function expire(now: number): void {
    const heldSince = now - settings.holdSeconds * 1000
    for (const job of [...again]) {
      const isOver =
        job.takenSince === undefined
          ? movedAt <= heldSince && job.since <= heldSince
          : now - job.takenSince >= settings.partsSeconds * 1000
      if (isOver) giveUp(job)
    }
    while (movedAt <= heldSince && head < queue.length) {
      const job = queue[head]
      if (job === undefined || job.since > heldSince) break
      advance()
      giveUp(job)
    }
  }

  function giveUp(job: Job): void {
    abandon(job)
    if (job.underWay === 0) finish(job)
  }

  function finish(job: Job): void {
    const outcome = messageOutcome(job.outcomes.length === 0 ? ['retry'] : [...job.outcomes])
    const { message, answered } = job
    const list = answers.get(answered) ?? []
    answers.set(answered, list)
    list.push(answerOf(message, outcome))
    answering ??= setImmediate(giveAnswers)
  }

  function giveAnswers(): void {
    answering = undefined
    const all = [...answers]
    answers.clear()
    for (const [answered, list] of all) {
      unanswered -= list.length
      answered(list)
    }
    if (unanswered > 0) return
    for (const resolve of quieted) resolve()
    quieted = []
  }

  return {
    submit(messages, answered) {
      const since = nowMilliseconds()
      if (unanswered === 0) movedAt = since
      unanswered += messages.length
      for (const message of messages) {
        const job: Job = {
          message,
          answered,
          since,
          segments: [],
          outcomes: [],
          toSend: [],
          underWay: 0,
          tries: 0,
          notBefore: 0,
          takenSince: undefined,
        }
        if (!isShut) encode(job)
        if (job.segments.length === 0) finish(job)
        else queue.push(job)
      }
      pump()
    },
    pump,
    shut() {
      isShut = true
      for (const job of [...again, ...queue.slice(head)]) if (job.takenSince === undefined) giveUp(job)
      queue = []
      head = 0
    },
    abandon() {
      for (const job of [...again, ...sending.values()]) giveUp(job)
    },
    quiet: () => new Promise((resolve) => (unanswered === 0 ? resolve() : void quieted.push(resolve))),
    waiting: () => queue.length - head + again.length,
    stop() {
      clearTimeout(timer)
    },
  }
}

function answerOf({ id }: Submission, outcome: MessageOutcome): SubmissionAnswer {
  if (typeof outcome === 'string') return { id, outcome }
  const isWhole = 'accepted' in outcome
  const [reference = '', ...furtherReferences] = isWhole ? outcome.accepted : outcome.partly
  const further = furtherReferences.length === 0 ? {} : { furtherReferences }
  return { id, outcome: isWhole ? 'accepted' : 'partly', reference, ...further }
}
