import { COMMAND_STATUS } from '@gateway/smpp'
import type { Submission } from './carrier.ts'
import type { Figures } from './figures.ts'
import type { Observations } from './observations.ts'
import type { Arrival, PartResponse, RunningCustomers, SubmittedText } from './smpp-customers.ts'
import type { State, StoredSend } from './state.ts'

export interface JudgedCustomers {
  readonly figures: Figures
  readonly state: State
  readonly observations: Observations
  readonly record: readonly Submission[]
  readonly customers: Pick<RunningCustomers, 'accounts' | 'texts' | 'arrivals'>
  /** Times at which the SMPP server was killed, by performance.now(). */
  readonly kills: readonly number[]
}

/** Tenths of a credit for one part of a text to a number of the customers. */
const partPrice = 10
/** Milliseconds for which sends are held without an answer (docs/decisions/0128). */
const holdMilliseconds = 61_000
const cancelled = 102
/** `command_status` values of refusals that may occur: nothing is wrong with the texts and numbers of the customers. */
const expectedStatuses: readonly number[] = [
  COMMAND_STATUS.ESME_RTHROTTLED,
  COMMAND_STATUS.ESME_RSYSERR,
  COMMAND_STATUS.ESME_RMSGQFUL,
]

/** Adds the messages that may be revoked to the expectations of `judge`. To be called before it. */
export function expectRevoked({
  state,
  observations,
  customers,
}: Pick<JudgedCustomers, 'state' | 'observations' | 'customers'>): void {
  const sends = sendsByNumber(state)
  for (const { number, responses } of customers.texts) {
    const send = sends.get(number)
    if (send !== undefined && !responses.every(isAccepted)) observations.perhapsDeleted.add(send.first)
  }
}

/** Asserts the promises to customers that submit over SMPP. */
export function judgeCustomers(judged: JudgedCustomers): void {
  const sends = sendsByNumber(judged.state)
  for (const text of judged.customers.texts) {
    responsesAreExact(judged, text, sends.get(text.number))
    priceIsExact(judged, text, sends.get(text.number))
  }
  receiptsHaveCome(judged, sends)
  repliesHaveCome(judged)
}

const isAccepted = (response: PartResponse | undefined): response is { id: number } =>
  response !== undefined && 'id' in response

const sendsByNumber = ({ sends }: State): ReadonlyMap<string, StoredSend> =>
  new Map(sends.filter(({ confirms }) => !confirms).flatMap((send) => send.numbers.map((to) => [to, send] as const)))

/** P-1, P-3: a text is stored if all its parts were answered with an id, and not sent if one of them was refused. */
function responsesAreExact(
  { figures, state, record, kills }: JudgedCustomers,
  { number, responses }: SubmittedText,
  send: StoredSend | undefined,
): void {
  const ids = responses.filter(isAccepted).map(({ id }) => id)
  if (new Set(ids).size < ids.length) figures.broken('P-1', `two parts to ${number} were answered with one id`)
  if (ids.length === responses.length) {
    figures.count(`SMPP: texts of ${responses.length} parts whole`)
    const isRefused = state.endedParts.has(ids[0] ?? 0)
    if (send === undefined ? !isRefused : send.first !== ids[0]) {
      figures.broken(
        'P-1',
        `the text to ${number} was answered with ${ids.join()} and is ${send?.first ?? 'not there'}`,
      )
    }
    return
  }
  for (const response of responses) {
    if (response === undefined || 'id' in response) continue
    const { status, at } = response
    if (!expectedStatuses.includes(status)) figures.broken('P-14', `a submission was answered 0x${status.toString(16)}`)
    if (responses.length > 1 || send === undefined) continue
    const wasSent = record.some(({ messageId }) => messageId === send.first)
    const isRevoked = state.messages.get(send.first)?.code === cancelled
    // A server that was killed before it revoked the message cannot do so later.
    const wasKilled = kills.some((killed) => killed > at - 1000 && killed < at + holdMilliseconds)
    if (status !== COMMAND_STATUS.ESME_RSYSERR || wasSent || !isRevoked) {
      if (wasKilled) figures.count('SMPP: answered RSYSERR, not revoked because of a kill')
      else figures.broken('P-3', `${send.first} to ${number} was answered 0x${status.toString(16)} and is not revoked`)
    }
  }
}

/** P-2: a text costs the price of its parts, once. */
function priceIsExact(
  { figures }: JudgedCustomers,
  { number, responses }: SubmittedText,
  send: StoredSend | undefined,
) {
  const price = partPrice * responses.length
  if (send !== undefined && send.price !== price) {
    figures.broken('P-2', `the text to ${number} of ${responses.length} parts cost ${send.price} instead of ${price}`)
  }
}

/** P-7, P-10, P-11: each final state has its receipts, for each part under its id, at the account that submitted it. */
function receiptsHaveCome(
  { figures, state, customers }: JudgedCustomers,
  sends: ReadonlyMap<string, StoredSend>,
): void {
  const accountOf = new Map<string, number>()
  for (const { account, responses } of customers.texts)
    for (const response of responses) if (isAccepted(response)) accountOf.set(String(response.id), account)
  const received = new Map<string, Arrival[]>()
  for (const arrival of customers.arrivals.filter(({ isReceipt }) => isReceipt)) {
    const id = /^id:(\d+) /.exec(arrival.text)?.[1] ?? ''
    received.set(id, [...(received.get(id) ?? []), arrival])
    const owner = accountOf.get(id) ?? sends.get(arrival.from)?.account
    if (owner !== undefined && owner !== arrival.account) {
      figures.broken('P-10', `the receipt of ${id} of account ${owner} came to account ${arrival.account}`)
    }
  }
  for (const { number, responses, wantsReceipt } of customers.texts) {
    const send = sends.get(number)
    const code = send && state.messages.get(send.first)?.code
    for (const response of responses.filter(isAccepted)) {
      const receipts = received.get(String(response.id)) ?? []
      if (receipts.length > 1) figures.count('SMPP: receipts that came again', receipts.length - 1)
      if (new Set(receipts.map(({ text }) => text)).size > 1)
        figures.broken(
          'P-7',
          `the receipts of ${response.id} differ: ${receipts.map(({ text }) => text).join(' and ')}`,
        )
      const end = state.endedParts.get(response.id) ?? code
      if (end === undefined) continue
      const isExpected = wantsReceipt && ![100, 105, 106].includes(end)
      if (isExpected && receipts.length === 0)
        figures.broken('P-11', `the receipt of ${response.id} to ${number}, which is ${end}, never came`)
      if (!isExpected && receipts.length > 0)
        figures.broken('P-11', `${response.id} to ${number}, which is ${end}, has a receipt that was not due`)
      const isDelivered = receipts[0]?.text.includes(' stat:DELIVRD ') === true
      if (receipts.length > 0 && isDelivered !== (end === 0))
        figures.broken('P-7', `${response.id} is ${end}, and its receipt says ${receipts[0]?.text ?? ''}`)
    }
  }
}

/** P-10, P-11: each reply that was stored for one of the accounts came to it, and to no other one. */
function repliesHaveCome({ figures, state, customers }: JudgedCustomers): void {
  const key = (account: number | null, from: string, text: string) => `${String(account)} ${from} ${text}`
  const accounts = new Set(customers.accounts.map(({ id }) => id))
  const stored = state.arrivals.filter(({ account }) => account !== null && accounts.has(account))
  const received = new Set(
    customers.arrivals.filter(({ isReceipt }) => !isReceipt).map(({ account, from, text }) => key(account, from, text)),
  )
  const due = new Set(stored.map(({ account, from, text }) => key(account, from, text)))
  figures.count('SMPP: replies due', due.size)
  for (const reply of due) if (!received.has(reply)) figures.broken('P-11', `the reply ${reply} never came over SMPP`)
  for (const reply of received)
    if (!due.has(reply)) figures.broken('P-10', `the reply ${reply} came to a wrong account`)
}
