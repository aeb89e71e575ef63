import type { Account } from '../accounts/account.ts'
import { credits, plus } from '../credits/credits.ts'
import type { Ports } from '../ports.ts'
import { firstAnswerSeconds, type IdempotencyKey } from '../client-requests/client-requests.ts'
import { bodyOf } from '../messages/body.ts'
import {
  bulkSendLimits,
  type BulkCall,
  type BulkRow,
  type BulkSendId,
  type EndedCall,
  type IdRun,
  type NewBulkSend,
} from './bulk-sends.ts'
import { fieldsMissing } from './fields.ts'
import { refuseMissingValues, refusing, textsOf } from './texts-of-rows.ts'
import { answerText, resultsIn, type SentRecipient } from '../messages/send-results.ts'
import { deleteScheduled } from '../messages/follow-messages.ts'
import type { MessageId } from '../messages/message-id.ts'
import { canonicalForm, type sendMessages } from '../messages/send-messages.ts'

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

/**
 * Starts a draft, once. Returns false if the account has no such draft of this revision, so that only the contents that
 * the author has seen are sent, or if its text does not fit its rows.
 */
export const startBulkSend =
  ({ bulkSends }: Pick<Ports, 'bulkSends'>) =>
  async (account: Account, id: BulkSendId, revision: number): Promise<boolean> => {
    const send = await bulkSends.find(account.id, id)
    if (send?.revision !== revision || draftProblem(send.text, send.columns).length > 0) return false
    return bulkSends.start(account.id, id, revision)
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
