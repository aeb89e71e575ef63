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

/** Decides about each request and answers it. */
export class MessageDecisions {
  readonly #settings: DecisionSettings
  readonly #throttledNumbers = refusals()
  readonly #quiet = quietReplies()
  readonly #acceptedByOwnId = new Map<string, ProviderMessage>()
  readonly #counts: Record<string, number> = {}
  /** Number of accepted messages whose answers may have another form. */
  #accepted = 0
  /** Current second of the clock, and the number of messages in it. */
  #second = { start: 0, count: 0 }

  constructor(settings: DecisionSettings) {
    this.#settings = settings
  }

  decide(request: ProviderRequest, response: ServerResponse): void {
    const { format, expected } = this.#settings
    if (!format.serves(request)) {
      writeAnswer(response, 'ordinary', { status: 404, headers: { 'content-type': 'text/plain' }, body: 'Not found' })
      return
    }
    const credentials = format.credentials(request)
    if (credentials === undefined || !isExpected(credentials, expected)) {
      writeAnswer(response, 'ordinary', format.refused('unauthorized', undefined))
      return
    }
    const submitted = submittedIn(request, format)
    if (submitted === undefined) writeAnswer(response, 'ordinary', format.refused('malformed', undefined))
    else this.#carryOut(this.#decisionOf(submitted, credentials), response)
  }

  /** Returns the number of messages for each decision. */
  counts(): Readonly<Record<string, number>> {
    return { ...this.#counts }
  }

  #isOverRate(): boolean {
    const { acceptedPerSecond } = this.#settings.personality()
    const start = Math.floor(this.#settings.now() / 1000)
    if (this.#second.start !== start) this.#second = { start, count: 0 }
    return acceptedPerSecond > 0 && ++this.#second.count > acceptedPerSecond
  }

  #refusalOf(submitted: SubmittedMessage, outcome: HttpOutcome): ProviderRefusal | undefined {
    const { hasNoCredit, numberRefusals } = this.#settings.personality()
    if (hasNoCredit) return 'no-credit'
    if (this.#isOverRate()) return 'throttled'
    const key = `${submitted.to} ${submitted.text}`
    if (outcome.isThrottledFirst && this.#throttledNumbers.isRefused(key, numberRefusals)) return 'throttled'
    return outcome.refusal
  }

  #accept(submitted: SubmittedMessage, credentials: Secrets): ProviderMessage {
    const message = { ...submitted, id: this.#settings.nextId(), credentials }
    this.#settings.deliveries.remember(message)
    if (this.#settings.format.repeated !== undefined && submitted.ownId !== undefined) {
      this.#acceptedByOwnId.set(submitted.ownId, message)
      if (this.#acceptedByOwnId.size > ownIdsMax)
        this.#acceptedByOwnId.delete(this.#acceptedByOwnId.keys().next().value ?? '')
    }
    return message
  }

  /** Returns the form of the answer to an accepted message. */
  #formOf(outcome: HttpOutcome): AnswerForm {
    const { answerForm, answerFormEvery } = this.#settings.personality()
    return answerFormEvery > 0 && ++this.#accepted % answerFormEvery === 0 ? answerForm : outcome.answer
  }

  #decisionOf(submitted: SubmittedMessage, credentials: Secrets): Decision {
    const outcome = httpOutcomeOf(submitted.to, this.#settings.personality().faultsByNumber)
    const common = { submitted, outcome, accepted: undefined, form: 'ordinary' } as const
    const before = submitted.ownId === undefined ? undefined : this.#acceptedByOwnId.get(submitted.ownId)
    if (before !== undefined && this.#settings.format.repeated !== undefined)
      return { ...common, is: 'repeated', answer: this.#settings.format.repeated(before) }
    const ignored: ProviderAnswer = { status: 200, body: '' }
    if (this.#settings.personality().ignoresMessages) return { ...common, is: 'ignored', form: 'none', answer: ignored }
    const refusal = this.#refusalOf(submitted, outcome)
    if (refusal !== undefined)
      return { ...common, is: refusal, answer: this.#settings.format.refused(refusal, submitted) }
    if (!outcome.isAccepted) return { ...common, is: 'ignored', form: outcome.answer, answer: ignored }
    const message = this.#accept(submitted, credentials)
    return {
      ...common,
      is: 'accepted',
      accepted: message,
      form: this.#formOf(outcome),
      answer: this.#settings.format.accepted(message),
    }
  }

  #carryOut(decision: Decision, response: ServerResponse): void {
    const { accepted: message, submitted, is, form, answer, outcome } = decision
    const { answerDelay, slowDelay, receiptDelay, receiptFirst } = this.#settings.personality()
    this.#note(entryOf(decision, this.#settings.now()))
    const delay = form === 'slow' ? slowDelay : answerDelay
    const write = (): void => writeAnswer(response, form, answer)
    if (message === undefined || is !== 'accepted') {
      after(delay, write)
      return
    }
    const isReplying =
      outcome.reply !== undefined &&
      this.#quiet.mayReply(submitted.to, submitted.from, this.#settings.now(), receiptDelay)
    const reported = isReplying ? outcome : { ...outcome, reply: undefined }
    if (receiptFirst || outcome.receiptFirst) {
      const first = this.#settings.deliveries.report(message, reported)
      const inTime = new Promise<void>((resolve) => after(receiptFirstMilliseconds, resolve))
      void Promise.race([first, inTime]).then(write)
      return
    }
    after(delay, write)
    after(delay + receiptDelay, () => void this.#settings.deliveries.report(message, reported))
  }

  #note(entry: MessageEntry): void {
    this.#counts[entry.decision] = (this.#counts[entry.decision] ?? 0) + 1
    this.#settings.journal.note(entry)
    this.#settings.journal.flush()
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
  const { to, from, text, ownId, callback } = submitted
  return { at, event: 'message', to, from, text, ownId, callback, id: accepted?.id, decision: is, answer: form }
}

function after(milliseconds: number, call: () => void): void {
  if (milliseconds > 0) setTimeout(call, milliseconds).unref()
  else call()
}
