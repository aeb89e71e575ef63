import type { CarrierPrice } from '@gateway/core/messages'
import type { ProviderAccount } from '../account.ts'
import { listOf, parseJson, scalarText, textAt, valueAt } from '../description/json.ts'
import type { Provider } from '../description/provider.ts'
import type { AnswerRule, Place } from '../description/schema.ts'
import { readPrice } from './read-price.ts'

/** Complete answer of a provider. Its body has been decompressed and is bounded. */
export interface HttpAnswer {
  readonly status: number
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/**
 * Meaning of an answer. 'broken': the account at the provider does not work, for example because of a wrong key or no
 * credit. 'delayed': a client error that no rule explains, so the message was certainly not accepted. After 'broken',
 * 'delayed' and 'throttled', the message is tried again. `error` is the provider's code or text, for operators.
 */
export type AnswerMeaning =
  | AcceptedAnswer
  | { readonly outcome: 'refused'; readonly error: string; readonly optOut: boolean }
  | { readonly outcome: 'throttled'; readonly error: string; readonly waitSeconds: number }
  | { readonly outcome: 'unknown' | 'broken' | 'delayed'; readonly error: string }

/** Answer that accepts a message. The outcome is 'partly' if the provider accepted only some parts of the message. */
export interface AcceptedAnswer {
  readonly outcome: 'accepted' | 'partly'
  readonly reference: string
  readonly furtherReferences: readonly string[]
  readonly price: CarrierPrice | undefined
}

/** Limits of what is read from an answer: number of parts, and length of an id and of an error in characters. */
const partsMax = 20
const idCharactersMax = 200
const errorCharactersMax = 200
/** Longest wait that a provider can ask for, in seconds. */
const waitSecondsMax = 3600

/** Answer, with the data that all of its entries share. */
interface Reading {
  readonly provider: Provider
  readonly answer: HttpAnswer
  readonly account: ProviderAccount
  readonly ownId: string
  readonly now: number
}

/**
 * Reads an answer by the rules of its provider. `ownId` is the id that was sent, and `now` is in milliseconds since
 * 1970. A message counts as accepted only if the answer has an id.
 */
export function readAnswer(account: ProviderAccount, answer: HttpAnswer, ownId: string, now: number): AnswerMeaning {
  const { provider } = account
  const reading: Reading = { provider, answer, account, ownId, now }
  const document = parseJson(answer.body)
  const { each } = provider.description.answer
  const list = each === undefined ? undefined : valueAt(document, each)
  const entries: readonly unknown[] = Array.isArray(list) && list.length > 0 ? list.slice(0, partsMax) : [document]
  return joined(entries.map((entry) => readEntry(entry, reading)))
}

function readEntry(document: unknown, reading: Reading): AnswerMeaning {
  const { provider, answer, ownId, now } = reading
  const { rules, id, error: errorPlaces, price } = provider.description.answer
  const error = (findText(errorPlaces, document, reading) ?? `HTTP ${answer.status}`).slice(0, errorCharactersMax)
  const rule = rules.find((each) => holds(each, document, reading))
  if (rule === undefined) return { outcome: outcomeWithoutRule(answer.status), error }
  switch (rule.is) {
    case 'accepted': {
      const found = findText(id, document, reading) ?? (rule.reference === undefined ? undefined : ownId)
      const reference = found?.slice(0, idCharactersMax)
      if (reference === undefined) return { outcome: 'unknown', error: `HTTP ${answer.status} without an id` }
      const charged = readPrice(price, document, provider, reading.account.currency)
      return { outcome: 'accepted', reference, furtherReferences: [], price: charged }
    }
    case 'refused':
      return { outcome: 'refused', error, optOut: rule.optOut === true }
    case 'throttled':
      return { outcome: 'throttled', error, waitSeconds: waitSecondsOf(answer, now) ?? rule.wait ?? 1 }
    case 'unknown':
    case 'broken':
      return { outcome: rule.is, error }
  }
}

/**
 * Returns the outcome of an answer that no rule explains. A client error means that the message was not accepted. A
 * redirect that keeps the method means that the provider's address is wrong.
 */
function outcomeWithoutRule(status: number): 'unknown' | 'broken' | 'delayed' {
  if ([301, 307, 308].includes(status)) return 'broken'
  return status >= 400 && status < 500 ? 'delayed' : 'unknown'
}

/** Joins the meanings of the parts of one message. */
function joined(parts: readonly AnswerMeaning[]): AnswerMeaning {
  const [first] = parts
  if (first === undefined) throw new Error('the answer has no parts')
  const accepted = parts.filter((part): part is AcceptedAnswer => part.outcome === 'accepted')
  const other = parts.find((part) => part.outcome !== 'accepted')
  if (accepted.length === 0) return parts.find(({ outcome }) => outcome === 'unknown') ?? first
  const unknown = parts.find(({ outcome }) => outcome === 'unknown')
  if (unknown !== undefined) return unknown
  const [reference = '', ...furtherReferences] = [...new Set(accepted.map((part) => part.reference))]
  const outcome = other === undefined ? 'accepted' : 'partly'
  return { outcome, reference, furtherReferences, price: sumOf(accepted) }
}

/**
 * Returns the price of the whole message. The prices of several parts are added if all are equal; otherwise returns
 * undefined.
 */
function sumOf(parts: readonly AcceptedAnswer[]): CarrierPrice | undefined {
  const [first] = parts
  if (parts.length === 1 || first?.price === undefined) return first?.price
  const { amount, currency } = first.price
  if (parts.some(({ price }) => price?.amount !== amount || price.currency !== currency)) return undefined
  return { amount: timesDecimal(amount, parts.length), currency }
}

/** Multiplies a decimal number exactly. */
function timesDecimal(amount: string, times: number): string {
  const [whole = '', decimals = ''] = amount.split('.')
  const product = String(BigInt(whole + decimals) * BigInt(times)).padStart(decimals.length + 1, '0')
  const point = product.length - decimals.length
  return decimals === '' ? product : `${product.slice(0, point)}.${product.slice(point)}`
}

function holds(rule: AnswerRule, document: unknown, { answer, provider }: Reading): boolean {
  if (rule.status !== undefined && !listOf(rule.status).some((each) => isStatus(each, answer.status))) return false
  const text = testedText(rule, document, answer)
  if (rule.in !== undefined) return text !== undefined && rule.in.some((each) => String(each) === text)
  if (rule.pattern !== undefined) return text !== undefined && provider.patterns.get(rule.pattern)?.isIn(text) === true
  return (rule.at === undefined && rule.header === undefined) || text !== undefined
}

const isStatus = (expected: number | string, status: number): boolean =>
  typeof expected === 'number' ? expected === status : expected.startsWith(String(Math.floor(status / 100)))

function testedText({ at, header }: AnswerRule, document: unknown, { headers, body }: HttpAnswer): string | undefined {
  if (header !== undefined) return headers[header]
  return at === undefined ? body : scalarText(valueAt(document, at))
}

function findText(
  places: Place | readonly Place[] | undefined,
  document: unknown,
  { answer, provider }: Reading,
): string | undefined {
  for (const place of listOf(places)) {
    const text =
      typeof place === 'string' ? textAt(document, place) : provider.patterns.get(place.pattern)?.find(answer.body)
    if (text !== undefined && text !== '') return text
  }
  return undefined
}

/** Returns the seconds that the header Retry-After asks for (RFC 9110, 10.2.3), at most an hour. */
function waitSecondsOf({ headers }: HttpAnswer, now: number): number | undefined {
  const text = headers['retry-after']?.trim() ?? ''
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000
  return Number.isNaN(seconds) ? undefined : Math.min(waitSecondsMax, Math.max(0, Math.ceil(seconds)))
}
