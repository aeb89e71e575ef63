import type { ServerResponse } from 'node:http'
import { quietReplies, refusals } from '../outcomes.ts'
import type { HttpDeliveries } from './deliveries.ts'
import type { HttpJournal } from './journal.ts'
import { httpOutcomeOf, type AnswerForm, type HttpOutcome } from './outcomes.ts'
import type { HttpPersonality } from './personalities.ts'
import type { ProviderFormat, ProviderMessage, ProviderRefusal } from './providers/provider.ts'
import type { ProviderAnswer, ProviderRequest, Secrets, SubmittedMessage } from './providers/provider.ts'
import type { MessageEntry } from './settings.ts'
import { writeAnswer } from './write-answer.ts'

export interface DecisionSettings {
  readonly format: ProviderFormat
  /** The only values of secrets with which requests are accepted; others may have any value. */
  readonly expected: Secrets
  readonly deliveries: HttpDeliveries
  readonly journal: HttpJournal
  readonly personality: () => HttpPersonality
  readonly now: () => number
  readonly nextId: () => string
}

/** Decides about each request and answers it. */
export interface MessageDecisions {
  decide(request: ProviderRequest, response: ServerResponse): void
  /** Returns the number of messages for each decision. */
  counts(): Readonly<Record<string, number>>
}

/** Decision of the provider about one submitted message. */
interface Decision {
  readonly submitted: SubmittedMessage
  /** Accepted message; undefined if it was not accepted. */
  readonly accepted: ProviderMessage | undefined
  readonly is: string
  readonly form: AnswerForm
  readonly answer: ProviderAnswer
  readonly outcome: HttpOutcome
}

/** Maximum number of own ids by which repetitions are recognized. */
const ownIdsMax = 100_000
/** Longest time in milliseconds for which an answer waits for the receipt that comes first. */
const receiptFirstMilliseconds = 1000

export function messageDecisions(settings: DecisionSettings): MessageDecisions {
  const { format, deliveries, journal, personality, now } = settings
  const throttledNumbers = refusals()
  const quiet = quietReplies()
  const acceptedByOwnId = new Map<string, ProviderMessage>()
  const counts: Record<string, number> = {}
  let accepted = 0
  let second = { start: 0, count: 0 }

  function isOverRate(): boolean {
    const { acceptedPerSecond } = personality()
    const start = Math.floor(now() / 1000)
    if (second.start !== start) second = { start, count: 0 }
    return acceptedPerSecond > 0 && ++second.count > acceptedPerSecond
  }

  function refusalOf(submitted: SubmittedMessage, outcome: HttpOutcome): ProviderRefusal | undefined {
    const { hasNoCredit, numberRefusals } = personality()
    if (hasNoCredit) return 'no-credit'
    if (isOverRate()) return 'throttled'
    const key = `${submitted.to} ${submitted.text}`
    if (outcome.isThrottledFirst && throttledNumbers.isRefused(key, numberRefusals)) return 'throttled'
    return outcome.refusal
  }

  function accept(submitted: SubmittedMessage, credentials: Secrets): ProviderMessage {
    const message = { ...submitted, id: settings.nextId(), credentials }
    deliveries.remember(message)
    if (format.repeated !== undefined && submitted.ownId !== undefined) {
      acceptedByOwnId.set(submitted.ownId, message)
      if (acceptedByOwnId.size > ownIdsMax) acceptedByOwnId.delete(acceptedByOwnId.keys().next().value ?? '')
    }
    return message
  }

  /** Returns the form of the answer to an accepted message. */
  function formOf(outcome: HttpOutcome): AnswerForm {
    const { answerForm, answerFormEvery } = personality()
    return answerFormEvery > 0 && ++accepted % answerFormEvery === 0 ? answerForm : outcome.answer
  }

  function decisionOf(submitted: SubmittedMessage, credentials: Secrets): Decision {
    const outcome = httpOutcomeOf(submitted.to, personality().faultsByNumber)
    const common = { submitted, outcome, accepted: undefined, form: 'ordinary' } as const
    const before = submitted.ownId === undefined ? undefined : acceptedByOwnId.get(submitted.ownId)
    if (before !== undefined && format.repeated !== undefined)
      return { ...common, is: 'repeated', answer: format.repeated(before) }
    const ignored: ProviderAnswer = { status: 200, body: '' }
    if (personality().ignoresMessages) return { ...common, is: 'ignored', form: 'none', answer: ignored }
    const refusal = refusalOf(submitted, outcome)
    if (refusal !== undefined) return { ...common, is: refusal, answer: format.refused(refusal, submitted) }
    if (!outcome.isAccepted) return { ...common, is: 'ignored', form: outcome.answer, answer: ignored }
    const message = accept(submitted, credentials)
    return { ...common, is: 'accepted', accepted: message, form: formOf(outcome), answer: format.accepted(message) }
  }

  function carryOut(decision: Decision, response: ServerResponse): void {
    const { accepted: message, submitted, is, form, answer, outcome } = decision
    const { answerDelay, slowDelay, receiptDelay, receiptFirst } = personality()
    note(entryOf(decision, now()))
    const delay = form === 'slow' ? slowDelay : answerDelay
    const write = (): void => writeAnswer(response, form, answer)
    if (message === undefined || is !== 'accepted') {
      after(delay, write)
      return
    }
    const isReplying = outcome.reply !== undefined && quiet.mayReply(submitted.to, submitted.from, now(), receiptDelay)
    const reported = isReplying ? outcome : { ...outcome, reply: undefined }
    if (receiptFirst || outcome.receiptFirst) {
      const first = deliveries.report(message, reported)
      const inTime = new Promise<void>((resolve) => after(receiptFirstMilliseconds, resolve))
      void Promise.race([first, inTime]).then(write)
      return
    }
    after(delay, write)
    after(delay + receiptDelay, () => void deliveries.report(message, reported))
  }

  function note(entry: MessageEntry): void {
    counts[entry.decision] = (counts[entry.decision] ?? 0) + 1
    journal.note(entry)
    journal.flush()
  }

  return {
    decide(request, response) {
      if (!format.serves(request)) {
        writeAnswer(response, 'ordinary', { status: 404, headers: { 'content-type': 'text/plain' }, body: 'Not found' })
        return
      }
      const credentials = format.credentials(request)
      if (credentials === undefined || !isExpected(credentials, settings.expected)) {
        writeAnswer(response, 'ordinary', format.refused('unauthorized', undefined))
        return
      }
      const submitted = submittedIn(request, format)
      if (submitted === undefined) writeAnswer(response, 'ordinary', format.refused('malformed', undefined))
      else carryOut(decisionOf(submitted, credentials), response)
    },
    counts: () => ({ ...counts }),
  }
}

/** Returns the message of a request; undefined if the request cannot be read. */
function submittedIn(request: ProviderRequest, format: ProviderFormat): SubmittedMessage | undefined {
  try {
    return format.read(request)
  } catch {
    return undefined
  }
}

const isExpected = (credentials: Secrets, expected: Secrets): boolean =>
  Object.entries(credentials).every(([name, value]) => expected[name] === undefined || expected[name] === value)

const entryOf = ({ submitted, accepted, is, form }: Decision, at: number): MessageEntry => {
  const { to, from, text, ownId } = submitted
  return { at, event: 'message', to, from, text, ownId, id: accepted?.id, decision: is, answer: form }
}

function after(milliseconds: number, call: () => void): void {
  if (milliseconds > 0) setTimeout(call, milliseconds).unref()
  else call()
}
