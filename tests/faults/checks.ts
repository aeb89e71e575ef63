import type { CarrierOfRun, Submission } from './carrier.ts'
import type { Figures } from './figures.ts'
import type { State, StoredSend } from './state.ts'
import type { Observations } from './observations.ts'

export interface Judged {
  readonly figures: Figures
  readonly state: State
  readonly observations: Observations
  /** Submissions that the carrier recorded, in order. */
  readonly record: readonly Submission[]
  /** Accounts that may run out of credits in the middle of a request. */
  readonly poor: ReadonlySet<number>
  readonly carrier: Pick<CarrierOfRun, 'reportsAll'>
  /** Maximum number of messages that may be submitted to a carrier without a stored answer. */
  readonly inDoubtMax: number
  /** Maximum number of times that dispatchers may have lost their knowledge of submitted messages. */
  readonly losses: number
}

const LEDGER = { topUp: 1, transfer: 2, refund: 3 } as const
/** Returns true if a message is refunded: it ended without a carrier, or the carrier refused it. */
const refunded = (code: number, carrier: number): boolean =>
  code === 111 || ([101, 102, 202, 212, 214].includes(code) && carrier === 0)
const screened = [202, 212, 214]

/** Final code of a message that the carrier accepted, by the last two digits of its number. */
const ends: Readonly<Record<string, number>> = { '90': 103, '91': 101, '92': 107, '94': 100 }

/** Asserts the promises, by comparing the stored data, the submissions, and the responses to clients. */
export function judge(judged: Judged): void {
  const sendOf = new Map<number, StoredSend>()
  for (const send of judged.state.sends) for (let i = 0; i < send.n; i++) sendOf.set(send.first + i, send)
  placesAreExact(judged, sendOf)
  acceptedIsThere(judged, sendOf)
  requestsAreWhole(judged)
  moneyIsExact(judged)
  transfersAreExact(judged)
  nothingIsSubmittedTwice(judged, sendOf)
  endsFit(judged, sendOf)
  deletesAreExact(judged)
}

type Sends = ReadonlyMap<number, StoredSend>

const numberOf = (sends: Sends, id: number): string => {
  const send = sends.get(id)
  return send?.numbers[id - send.first] ?? ''
}

/** P-1, P-4: every id of every send is in exactly one place, and no place has an id without a send. */
function placesAreExact({ figures, state }: Judged, sends: Sends): void {
  for (const id of sends.keys()) {
    const places = (state.waiting.get(id) ?? 0) + (state.messages.has(id) ? 1 : 0)
    if (places !== 1) figures.broken('P-1', `id ${id} is in ${places} places`)
  }
  for (const id of [...state.waiting.keys(), ...state.messages.keys()]) {
    if (!sends.has(id)) figures.broken('P-1', `id ${id} has no send`)
  }
}

/** P-1: every message whose id a client received is stored, for its account and number. */
function acceptedIsThere({ figures, observations }: Judged, sends: Sends): void {
  for (const [id, { account, number }] of observations.messages) {
    if (sends.get(id)?.account !== account || numberOf(sends, id) !== number) {
      figures.broken('P-1', `id ${id} to ${number} of account ${account} was accepted and is not there`)
    }
  }
}

/**
 * P-3: exactly the recipients that were answered with an id are stored. A request whose answer was lost was executed
 * once or not at all.
 */
function requestsAreWhole({ figures, state, observations, poor }: Judged): void {
  const stored = new Map<string, number>()
  for (const { numbers } of state.sends) for (const to of numbers) stored.set(to, (stored.get(to) ?? 0) + 1)
  for (const [to, times] of stored)
    if (times > 1) figures.broken('P-2', `${to} was asked for once, stored ${times} times`)
  for (const { account, numbers, results } of observations.sendings) {
    const there = numbers.filter((to) => stored.has(to)).length
    if (results === undefined) {
      figures.count(there === 0 ? 'lost answers: nothing had happened' : 'lost answers: it had happened')
      if (there !== 0 && there !== numbers.length && !poor.has(account)) {
        figures.broken('P-1', `of a request for ${numbers.length} without an answer ${there} are stored`)
      }
      continue
    }
    for (const [i, to] of numbers.entries()) {
      if (stored.has(to) !== (typeof results[i] === 'number')) {
        figures.broken('P-3', `${to} was answered ${String(results[i])} and is ${stored.has(to) ? '' : 'not '}stored`)
      }
    }
  }
}

const sum = (of: readonly number[]): number => of.reduce((total, one) => total + one, 0)

/** P-2: balances are exact, and each refund was made once, with the charged amount, to the charged account. */
function moneyIsExact({ figures, state }: Judged): void {
  const refunds = new Map<number, number>()
  const charged = new Map(state.sends.map(({ first, account }) => [first, account]))
  for (const { kind, amount, send, account } of state.ledger) {
    if (kind !== LEDGER.refund || send === null) continue
    refunds.set(send, (refunds.get(send) ?? 0) + amount)
    if (charged.get(send) !== account) {
      figures.broken('P-2', `a refund for send ${send} went to account ${account}`)
    }
  }
  for (const { first, n, price } of state.sends) {
    const ids = Array.from({ length: n }, (_, i) => state.messages.get(first + i))
    const refundsDue = ids.filter((message) => message && refunded(message.code, message.carrier)).length * price
    if (price > 0) figures.count('messages refunded', refundsDue / price)
    const got = refunds.get(first) ?? 0
    if (got !== refundsDue) figures.broken('P-2', `of send ${first} ${got} were refunded, and ${refundsDue} had to be`)
  }
  const of = (wantedKind: number): number =>
    sum(state.ledger.map(({ kind, amount }) => (kind === wantedKind ? amount : 0)))
  const spent = sum(state.sends.map(({ n, price }) => n * price)) - of(LEDGER.refund)
  const balances = sum([...state.balances.values()])
  if (balances + spent !== of(LEDGER.topUp)) {
    figures.broken('P-2', `granted ${of(LEDGER.topUp)}, but balances ${balances} + net spent ${spent}`)
  }
  if (of(LEDGER.transfer) !== 0) figures.broken('P-2', `transfers add up to ${of(LEDGER.transfer)}`)
}

/** Transfers: an answer Success means moved once, any other word means not moved, and a lost answer allows both. */
function transfersAreExact({ figures, state, observations }: Judged): void {
  const entries = state.ledger.filter(({ kind }) => kind === LEDGER.transfer)
  for (const { from, to, quantity, outcome } of observations.transfers) {
    const out = entries.filter(({ account, amount }) => account === from && amount === -quantity * 10)
    const into = entries.filter(({ account, amount, operation }) =>
      out.some((one) => one.operation === operation && account === to && amount === quantity * 10),
    )
    const moved = out.length
    const expected = outcome === 'Success' ? [1] : outcome === undefined ? [0, 1] : [0]
    if (!expected.includes(moved) || into.length !== moved) {
      const description = `${quantity} from ${from} to ${to}, answered ${outcome ?? 'never'}`
      figures.broken('P-2', `${description}: left ${moved} times, arrived ${into.length} times`)
    }
  }
  const known = new Set(observations.transfers.map(({ from, quantity }) => `${from} ${-quantity * 10}`))
  for (const { account, amount } of entries) {
    if (amount < 0 && !known.has(`${account} ${amount}`)) {
      figures.broken('P-2', `nobody asked for a transfer of ${-amount} tenths from ${account}`)
    }
  }
}

/** P-5: a message is submitted again only after an explicit temporary refusal. */
function nothingIsSubmittedTwice({ figures, record }: Judged, sends: Sends): void {
  figures.count('submissions', record.length)
  for (const how of submittedAgain(record)) figures.broken('P-5', how)
  for (const { messageId, number } of record) {
    if (numberOf(sends, messageId) !== number) figures.broken('P-5', `nobody sent ${messageId} to ${number}`)
  }
}

/**
 * Describes each message that was submitted again although the carrier may have accepted it before. Omits messages that
 * have no id, because they were lost with the database server.
 */
export function submittedAgain(record: readonly Submission[]): string[] {
  const last = new Map<string, string>()
  return record.flatMap(({ messageId, number, part, answer }) => {
    if (messageId < 0) return []
    const key = `${messageId} ${part}`
    const before = last.get(key)
    last.set(key, answer)
    const mayBe = before === undefined || before === 'refused-for-now'
    return mayBe ? [] : `part ${part} of ${messageId} to ${number} was submitted again after ${before}`
  })
}

/** P-4, P-6, P-7: every outcome is explained by the behaviour of the carrier. */
function endsFit({ figures, state, record, carrier, inDoubtMax, losses }: Judged, sends: Sends): void {
  const answersOf = lastAnswers(record)
  const fates = reportedFates(record)
  let inDoubt = 0
  for (const { id, code } of state.messages.values()) {
    const number = numberOf(sends, id)
    const answers = answersOf.get(id) ?? []
    figures.count(`messages ${code}`)
    if (code === 106 && carrier.reportsAll && fates.has(id)) {
      figures.broken('P-5', `${id} to ${number}, of which the carrier told the fate, is still 106`)
    } else if (code === 106 && !answers.some((answer) => ['unknown', 'ignored'].includes(answer))) inDoubt++
    else if (!fittingAll(answers, number, carrier.reportsAll).includes(code)) {
      figures.broken('P-7', `${id} to ${number}, answered ${answers.join(' and ') || 'nothing'}, is ${code}`)
    }
  }
  figures.count('in doubt (106 but for the carrier that said so)', inDoubt)
  const lost = Math.max(inDoubt, state.incidents.get('recovered') ?? 0)
  if (lost > inDoubtMax * losses) {
    figures.broken('P-6', `${lost} were 106 after ${losses} losses with a bound of ${inDoubtMax}`)
  }
}

/** Returns the last answer to each part, by message id. */
function lastAnswers(record: readonly Submission[]): ReadonlyMap<number, readonly string[]> {
  const parts = new Map<number, Map<number, string>>()
  for (const { messageId, part, answer } of record) {
    parts.set(messageId, (parts.get(messageId) ?? new Map<number, string>()).set(part, answer))
  }
  return new Map([...parts].map(([id, answers]) => [id, [...answers.values()]]))
}

/**
 * Returns the messages of one part whose receipts must have arrived, because the carrier accepted them and reports all
 * outcomes. Omits messages of several parts: some of their parts may never have been submitted, so the outcome is
 * uncertain whatever the receipts of the other parts report.
 */
export function reportedFates(record: readonly Submission[]): ReadonlySet<number> {
  const last = new Map(record.filter(({ parts }) => parts === 1).map((one) => [one.messageId, one]))
  const hasReceipt = ({ answer, number }: Submission): boolean =>
    answer === 'accepted' ? !number.endsWith('94') : answer === 'unknown' && !/(?:9[3-6])$/.test(number)
  return new Set([...last.values()].filter(hasReceipt).map(({ messageId }) => messageId))
}

/**
 * Returns the codes that fit the answers to all parts of a message. If several parts have different outcomes, 213 and
 * 106 are possible too.
 */
function fittingAll(answers: readonly string[], number: string, reportsAll: boolean): readonly number[] {
  // A dispatcher that was paused may record late that a message was never submitted. The message is then refused and
  // refunded.
  if (answers.length === 0) return [...fitting(undefined, number), ...(reportsAll ? [111] : [])]
  const accepted = reportsAll && answers.includes('unknown') ? fitting('accepted', number) : []
  const several = answers.length > 1 ? [106, 213, ...(number.endsWith('98') ? [103] : [])] : []
  return [...answers.flatMap((answer) => fitting(answer, number)), ...accepted, ...several]
}

function fitting(answer: string | undefined, number: string): readonly number[] {
  if (answer === undefined) return [102, ...screened]
  if (answer === 'refused-for-now') return [111, ...screened]
  if (answer === 'refused') return [111]
  if (answer === 'unknown' || answer === 'ignored') return [106]
  return [ends[number.slice(-2)] ?? 0]
}

/**
 * P-8: a message whose deletion was answered DELETED ended as deleted and was not submitted. No other message ended so.
 */
function deletesAreExact({ figures, state, observations, record }: Judged): void {
  const submitted = new Set(record.map(({ messageId }) => messageId))
  const isDeleted = (id: number): boolean => state.messages.get(id)?.code === 102
  for (const [id, { deleted, notFound, final }] of observations.messages) {
    if (deleted !== undefined && !isDeleted(id)) figures.broken('P-8', `${id} was answered DELETED and is not`)
    if (notFound === true && !isDeleted(id)) figures.broken('P-1', `a delete of ${id} was answered NOTFOUND`)
    if (isDeleted(id) && deleted === undefined && !observations.perhapsDeleted.has(id)) {
      figures.broken('P-8', `${id} is deleted, and nobody was told so`)
    }
    if (final !== undefined && state.messages.get(id)?.code !== final) {
      figures.broken('P-7', `${id} was ${final}, which is final, and is now ${String(state.messages.get(id)?.code)}`)
    }
  }
  for (const { id } of state.messages.values()) {
    if (isDeleted(id) && submitted.has(id)) figures.broken('P-8', `${id} was deleted and submitted`)
  }
}
