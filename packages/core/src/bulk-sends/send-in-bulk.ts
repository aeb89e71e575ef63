import type { Account } from '../accounts/account.ts'
import { credits, minus, plus, spend, type Credits } from '../credits/credits.ts'
import { creditBalance } from '../credits/move-credits.ts'
import type { Ports } from '../ports.ts'
import { firstAnswerSeconds, type IdempotencyKey } from '../client-requests/client-requests.ts'
import { bodyOf } from '../messages/body.ts'
import {
  bulkSendLimits,
  type BulkCall,
  type BulkRow,
  type BulkSend,
  type BulkSendId,
  type EndedCall,
  type IdRun,
  type NewBulkSend,
} from './bulk-sends.ts'
import { answerText, resultsIn, type SentRecipient } from '../messages/send-results.ts'
import { deleteScheduled } from '../messages/follow-messages.ts'
import type { MessageId } from '../messages/message-id.ts'
import { isPassed, screenTexts, type TextToSend } from '../messages/screen-texts.ts'
import { canonicalForm, orderedTexts, type sendMessages } from '../messages/send-messages.ts'

/** `{name}` in a text: replaced by the field in the column of this name, in any letter case. */
const fieldOfText = /\{([^{}\n]{1,100})\}/g

/** Returns the names of the fields of a text as written, each once. */
export const fieldsOf = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(fieldOfText)].map(([, name = '']) => name)),
]

/** Returns the fields in a text for which there is no column. Without columns a text has no fields (`fillIn`). */
export function fieldsMissing(text: string, columns: readonly string[]): readonly string[] {
  if (columns.length === 0) return []
  const names = columns.map(keyOf)
  return fieldsOf(text).filter((name) => !names.includes(keyOf(name)))
}

const keyOf = (name: string): string => name.trim().toLowerCase()

/** Returns the text of a row. Without columns a text has no fields. */
export function fillIn(text: string, columns: readonly string[], { fields }: Pick<BulkRow, 'fields'>): string {
  if (columns.length === 0) return text
  const names = columns.map(keyOf)
  return text.replace(fieldOfText, (whole, name: string) => fields[names.indexOf(keyOf(name))] ?? whole)
}

/** Refuses the rows in which a field of the text is blank, so that nobody receives "Dear , 6 is due". */
function refuseMissingValues({ text, columns }: BulkSend, rows: readonly BulkRow[]): readonly BulkRow[] {
  const names = columns.map(keyOf)
  const fieldsNeeded = fieldsOf(text)
    .map((name) => names.indexOf(keyOf(name)))
    .filter((at) => at >= 0)
  if (fieldsNeeded.length === 0) return rows
  const isMissing = ({ fields }: BulkRow): boolean => fieldsNeeded.some((at) => (fields[at] ?? '').trim() === '')
  return rows.map((row) => (row.refused === undefined && isMissing(row) ? refusing(row, 'missing-value') : row))
}

/** Groups the rows of a call that are to be sent by text, in the order of their first rows. */
function textsOf({ text, columns, scheduled }: BulkSend, rows: readonly BulkRow[]): readonly TextToSend<BulkRow>[] {
  const byText = new Map<string, BulkRow[]>()
  for (const row of rows) {
    if (row.refused !== undefined) continue
    const own = fillIn(text, columns, row)
    const same = byText.get(own)
    if (same === undefined) byText.set(own, [row])
    else same.push(row)
  }
  return [...byText].map(([own, recipients]) => ({ text: own, recipients, scheduled }))
}

/** Preview of a bulk send at this moment. */
export interface BulkQuote {
  readonly messages: number
  /** Smallest number of parts of one message. */
  readonly partsMin: number
  readonly partsMax: number
  readonly cost: Credits
  /** Credits that all recipients that pass the screening would cost, whatever the balance. */
  readonly fullCost: Credits
  readonly balance: Credits
  readonly remaining: Credits
  /** Rows that would get no message, each with its reason, including repetitions. */
  readonly refused: readonly BulkRow[]
  /** Rows whose number is not used exactly as written. */
  readonly changed: readonly BulkRow[]
  /** First rows that would get a message, with their texts. */
  readonly examples: readonly { readonly row: BulkRow; readonly text: string; readonly parts: number }[]
}

const examplesMax = 3

/** Screens and prices a stored send, one call at a time. Returns undefined if the account has no such send. */
export const quoteBulkSend =
  (ports: Pick<Ports, 'bulkSends' | 'suppressions' | 'prices' | 'senders' | 'ledger' | 'clock'>) =>
  async (account: Account, id: BulkSendId): Promise<BulkQuote | undefined> => {
    const send = await ports.bulkSends.find(account.id, id)
    if (send === undefined) return undefined
    const allowed = await ports.senders.allowedTo(account.id)
    const balance = await creditBalance(ports)(account.id)
    let [remaining, fullCost, messages, partsMin, partsMax] = [balance, credits(0), 0, Infinity, 0]
    const refused: BulkRow[] = []
    const changed: BulkRow[] = []
    const examples: BulkQuote['examples'][number][] = []
    for (let call = 0; call < send.calls; call++) {
      const rows = refuseMissingValues(send, await ports.bulkSends.rows(account.id, id, call))
      refused.push(...rows.filter((row) => row.refused !== undefined))
      changed.push(...rows.filter((row) => row.changed === true && row.refused === undefined))
      const texts = textsOf(send, rows)
      const screened = await screenTexts(ports, account, texts, ports.clock.now())
      if (orderedTexts(screened, allowed) === 'invalid-sender') {
        refused.push(...texts.flatMap(({ recipients }) => recipients.map((row) => refusing(row, 'invalid-sender'))))
        continue
      }
      const costs = screened.flatMap(({ recipients }) => recipients.filter(isPassed).map(({ cost }) => cost))
      const spent = spend(remaining, costs)
      let next = 0
      screened.forEach(({ body, recipients }, at) => {
        for (const recipient of recipients) {
          const row = recipient.recipient
          if (!isPassed(recipient)) refused.push(refusing(row, recipient.refused))
          else if (spent.paid[next++] !== true) refused.push(refusing(row, 'insufficient-credits'))
          else {
            messages++
            const parts = body?.parts ?? 1
            partsMin = Math.min(partsMin, parts)
            partsMax = Math.max(partsMax, parts)
            if (examples.length < examplesMax) examples.push({ row, text: body?.text ?? texts[at]?.text ?? '', parts })
          }
        }
      })
      remaining = spent.balance
      fullCost = costs.reduce(plus, fullCost)
    }
    refused.sort((a, b) => a.row - b.row)
    const of = { messages, partsMin: messages === 0 ? 0 : partsMin, partsMax, refused, changed, examples }
    return { ...of, cost: minus(balance, remaining), fullCost, balance, remaining }
  }

/** Returns the message ids of an ended call, in the order of its texts. */
export const bulkIds =
  (ports: Pick<Ports, 'bulkSends'>) =>
  async (account: Account, id: BulkSendId, call: number): Promise<readonly MessageId[]> => {
    const runs = await ports.bulkSends.accepted(account.id, id, call)
    return runs.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => (first + i) as MessageId))
  }

/** Deletes and refunds the waiting messages of a send that has ended, and returns their number. */
export const cancelBulkSend =
  (ports: Pick<Ports, 'bulkSends' | 'messages' | 'clock'>) =>
  async (account: Account, id: BulkSendId): Promise<number> => {
    const send = await ports.bulkSends.find(account.id, id)
    if (send?.state !== 'ended') return 0
    let deleted = 0
    for (let call = 0; call < send.calls; call++) {
      const deletions = await deleteScheduled(ports)(account, await bulkIds(ports)(account, id, call))
      deleted += deletions.filter(({ outcome }) => outcome === 'deleted').length
    }
    return deleted
  }

const refusing = (row: BulkRow, refused: NonNullable<BulkRow['refused']>): BulkRow => ({ ...row, refused })

/** Returns why a draft cannot be sent: its text is empty or too long, or a field has no column. */
export function draftProblem(text: string, columns: readonly string[]): 'no-message' | 'too-long' | readonly string[] {
  const missing = fieldsMissing(text, columns)
  if (missing.length > 0) return missing
  const body = bodyOf(text)
  return typeof body === 'string' ? body : []
}

/** Stores a draft unless the account has `draftsMax` already. */
export const draftBulkSend =
  ({ bulkSends }: Pick<Ports, 'bulkSends'>) =>
  async (
    account: Account,
    send: NewBulkSend,
    calls: readonly (readonly BulkRow[])[],
  ): Promise<BulkSendId | 'too-many-drafts'> => {
    const { draftsMax } = bulkSendLimits
    const drafts = await bulkSends.listDrafts(account.id, { limit: draftsMax })
    return drafts.length < draftsMax ? bulkSends.add(account.id, send, calls) : 'too-many-drafts'
  }

/** Starts a draft, once. Returns false if the account has no such draft or its text does not fit its rows. */
export const startBulkSend =
  ({ bulkSends }: Pick<Ports, 'bulkSends'>) =>
  async (account: Account, id: BulkSendId): Promise<boolean> => {
    const send = await bulkSends.find(account.id, id)
    if (send === undefined || draftProblem(send.text, send.columns).length > 0) return false
    return bulkSends.start(account.id, id)
  }

/**
 * Maximum age of a started send, in seconds, at which its remaining calls are still accepted. The answers to its first
 * calls are still stored then.
 */
const continuedSeconds = firstAnswerSeconds - 8 * 3600
/**
 * Age of a started send, in seconds, after which the result of an unfinished call is reported as unknown. This is one
 * hour before answers expire.
 */
const knownSeconds = firstAnswerSeconds - 3600
/** Seconds without progress after which another process may claim a call. */
const callLeaseSeconds = 10
const overloadedSeconds = 1

type WorkPorts = Pick<Ports, 'bulkSends' | 'clientRequests' | 'accounts'>

/**
 * Processes the next call of a bulk send, or of the send `only`, so that the user who starts a short send sees the
 * result at once. Returns 'nothing' if there is no claimable call. Any number of processes may call it concurrently,
 * and each may die at any moment: a row is accepted and charged once, or reported as not accepted.
 *
 * If the send was stopped, stores an answer that accepts nothing under the key of each call that has no answer yet. The
 * store keeps only the first answer of a key. If another process is accepting the same call, its messages are accepted
 * only if its answer is stored first.
 */
export const sendNextCall =
  (ports: WorkPorts, send: ReturnType<typeof sendMessages>) =>
  async (only?: BulkSendId): Promise<'more' | 'nothing'> => {
    const call = await ports.bulkSends.take(callLeaseSeconds, only)
    if (call === undefined) return 'nothing'
    const claimed = { ...call, rows: refuseMissingValues(call.send, call.rows) }
    const { id } = claimed.send
    const found = await ports.accounts.find(claimed.send.account)
    if (found === undefined) throw new Error(`the account of bulk send ${id} does not exist`)
    if (claimed.ageSeconds > knownSeconds) await ports.bulkSends.end(id, claimed.call, allLeft(claimed, 'unknown'))
    else if (claimed.send.state === 'stopping' || claimed.ageSeconds > continuedSeconds) await settle(ports, claimed)
    else await accept(ports, send, found.account, claimed)
    return 'more'
  }

const keyOfCall = ({ send, call }: BulkCall): IdempotencyKey => `${send.key}-${call}` as IdempotencyKey

async function accept(
  { bulkSends }: WorkPorts,
  send: ReturnType<typeof sendMessages>,
  account: Account,
  claimed: BulkCall,
): Promise<void> {
  const { id } = claimed.send
  const texts = textsOf(claimed.send, claimed.rows)
  if (texts.length === 0) return bulkSends.end(id, claimed.call, endOf(claimed, []))
  const sent = await send(account, texts, keyOfCall(claimed))
  if (sent === 'overloaded') return bulkSends.postpone(id, overloadedSeconds)
  if (sent === 'invalid-sender') return bulkSends.end(id, claimed.call, allLeft(claimed, sent))
  if (sent === 'another-request') return bulkSends.end(id, claimed.call, allLeft(claimed, 'unknown'))
  if ('overLimitSeconds' in sent) return bulkSends.postpone(id, sent.overLimitSeconds)
  const results = sent.flat()
  // The results may come from another process that stopped the send and stored an answer that accepts nothing.
  const isStopped =
    results.every((result) => 'refused' in result && result.refused === 'account-locked') &&
    (await bulkSends.find(account.id, id))?.state !== 'running'
  return bulkSends.end(id, claimed.call, isStopped ? allLeft(claimed, stopReason(claimed)) : endOf(claimed, results))
}

async function settle({ bulkSends, clientRequests }: WorkPorts, claimed: BulkCall): Promise<void> {
  const texts = textsOf(claimed.send, claimed.rows)
  const nothing = texts.map(({ recipients }) =>
    recipients.map((row) => ({
      ...{ recipient: row, number: row.number, refused: 'account-locked' as const, balance: credits(0) },
    })),
  )
  const request = { account: claimed.send.account, key: keyOfCall(claimed), canonical: canonicalForm(texts) }
  const first = await clientRequests.keep(request, { text: answerText(nothing), balance: credits(0) })
  if (first === 'another-request') return bulkSends.end(claimed.send.id, claimed.call, allLeft(claimed, 'unknown'))
  const results = resultsIn(first, texts).flat()
  const isAnyAccepted = results.some((result) => 'id' in result)
  const ended = isAnyAccepted ? endOf(claimed, results) : allLeft(claimed, stopReason(claimed))
  return bulkSends.end(claimed.send.id, claimed.call, ended)
}

const stopReason = ({ send }: BulkCall) => (send.failedOver === undefined ? 'stopped' : 'failed-over')

function endOf({ rows }: BulkCall, results: readonly SentRecipient<BulkRow>[]): EndedCall {
  const accepted: { readonly first: IdRun[0]; last: IdRun[1] }[] = []
  const refused: BulkRow[] = []
  let [messages, cost] = [0, credits(0)]
  for (const result of results) {
    if ('refused' in result) {
      refused.push(refusing(result.recipient, result.refused))
      continue
    }
    messages++
    cost = plus(cost, result.cost)
    const run = accepted.at(-1)
    if (run !== undefined && result.id === run.last + 1) run.last = result.id
    else accepted.push({ first: result.id, last: result.id })
  }
  const refusedRows = [...rows.filter((row) => row.refused !== undefined), ...refused].sort((a, b) => a.row - b.row)
  return { accepted: accepted.map(({ first, last }) => [first, last]), messages, cost, refusedRows }
}

const allLeft = ({ rows }: BulkCall, refused: 'stopped' | 'failed-over' | 'unknown' | 'invalid-sender'): EndedCall => ({
  ...{ accepted: [], messages: 0, cost: credits(0) },
  refusedRows: rows.map((row) => (row.refused === undefined ? refusing(row, refused) : row)),
})
