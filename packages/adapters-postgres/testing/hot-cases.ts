import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { accept, acceptKeyed, acceptKeyedScheduled, acceptScheduled } from '../src/sql/accept.ts'
import { applyReceipts, knownReceipts, newestPartition } from '../src/sql/apply-receipts.ts'
import { arrayOf, arrayOfTexts } from '../src/sql/arrays.ts'
import { findFirstAnswer, keepFirstAnswer, keysWithAnswers } from '../src/sql/client-requests.ts'
import { chooseSenders, chosenSenders } from '../src/sql/choose-senders.ts'
import { claimBulk } from '../src/sql/claim-bulk.ts'
import { claimLists } from '../src/sql/claim-lists.ts'
import { claimSingle } from '../src/sql/claim-single.ts'
import { disownUnknown } from '../src/sql/end-claimed-batches.ts'
import { countLoginFailure } from '../src/sql/count-login-failure.ts'
import { findStranded, moveRanges } from '../src/sql/reroute.ts'
import { expire } from '../src/sql/expire.ts'
import { findKey, findLogin } from '../src/sql/find-account.ts'
import { addSenders, findSenders, senderAddresses } from '../src/sql/find-senders.ts'
import type { PreparedStatement } from '../src/sql/prepared-statement.ts'
import { putBack } from '../src/sql/put-back.ts'
import { takeInbox } from '../src/sql/take-inbox.ts'
import { replayEvent } from '../src/sql/replay-events.ts'
import { keepReceipts } from '../src/sql/keep-receipts.ts'
import { endBackend, findSends } from '../src/sql/lost-answer.ts'
import { mark } from '../src/sql/mark.ts'
import { matchReceipts } from '../src/sql/match-receipts.ts'
import { matchingSuppressions } from '../src/sql/matching-suppressions.ts'
import { recordPushes, releaseLists, divideLists } from '../src/sql/push-events.ts'
import { postpone } from '../src/sql/postpone.ts'
import { promote } from '../src/sql/promote.ts'
import { giveBack } from '../src/sql/give-back.ts'
import { queuesWithWork } from '../src/sql/queues-with-work.ts'
import { lockAccount, readAccount, readBalances } from '../src/sql/read-account.ts'
import { forgetInboundMessages } from '../src/sql/forget-inbound-messages.ts'
import { findNoted } from '../src/sql/find-noted.ts'
import { noteInboundMessages } from '../src/sql/note-inbound-messages.ts'
import { findWaitingParts, lockParts, takeOldParts, writeParts } from '../src/sql/waiting-parts.ts'
import { recordLate } from '../src/sql/record-late.ts'
import { record, recordParts } from '../src/sql/record.ts'
import { extend, register } from '../src/sql/dispatcher-lease.ts'
import { settle } from '../src/sql/settle.ts'
import { storeConfirmations } from '../src/sql/store-confirmations.ts'
import { takeRate } from '../src/sql/take-rate.ts'
import { coveringSends, findOutcomes, numbersInSends } from '../src/sql/status.ts'
import { filled } from './filled-database.ts'

/** A statement with values that find rows in a filled database. */
export interface Case {
  readonly statement: PreparedStatement<unknown>
  readonly values: readonly unknown[]
  /** Rows that it may read of any one table, where all are filled. */
  readonly rowsMax: number
  /** Partitions that it may look into. Default: the newest one only. */
  readonly partitions?: readonly number[]
}

const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)
const of = (value: number | string, count: number) => arrayOf(ids(0, count).map(() => value))
const numbers = (of: readonly number[]) => arrayOf(of.map((id) => 27800000000 + id))
const references = (of: readonly number[]) => arrayOfTexts(of.map((id) => `r${id}`))
const keys = (kind: string, count: number) =>
  ids(1, count).map((i) => createHash('md5').update(`${kind}${i}`).digest('hex'))
const longAgo = '2001-01-01T00:00:00Z'
const claimed = ids(filled.claimed.from, 100)
const sent = ids(filled.sent.from, 500)
const parts = ids(filled.inParts.from, 250)
/** Due, of account 1. */
const singlesOfOne = ids(0, 100).map((i) => filled.due.from + 1 + 2 * i)
const fresh = ids(5_500_001, 100)
const someLists = ids(1, 50)

const recorded = (carriersOrCodes: string) => [
  1,
  '{}',
  of(1, 100),
  arrayOf(claimed),
  numbers(claimed),
  references(claimed),
  '{1}',
  '{1}',
  `{${claimed[0]}}`,
  '{1}',
  '{f}',
  '{1}',
  '{400}',
  carriersOrCodes,
]

/** Of the first fifty messages of `recorded` two parts each. */
const ofParts = [
  arrayOf(ids(0, 100).map((i) => (i < 50 ? 2 : 0))),
  arrayOf(ids(0, 100).map((i) => 1 + Math.floor(i / 2))),
  arrayOf(ids(0, 100).map((i) => 1 + (i % 2))),
  arrayOfTexts(ids(0, 100).map((i) => `new-${i}`)),
]

const accepting = [
  arrayOf(fresh.map((id) => 1 + (id % 200))),
  arrayOf(fresh),
  of(1, 100),
  of(10, 100),
  of(1, 100),
  of('hello', 100),
  of('"{27820000000}"', 100),
  of(1, 100),
  of(0, 100),
  of(0, 100),
]

/** Under keys that nobody has used; of the filled table others have rows. */
const keeping = [accepting[0], arrayOf(keys('new ', 100)), arrayOf(keys('d', 100)), of(0, 100), of('"[]"', 100)]

/** Every prepared statement that shows its plan, by name. Each account has three endpoints, which are read for each event. */
export const cases: Readonly<Record<string, Case>> = {
  accept: { statement: accept, values: accepting, rowsMax: 200, partitions: [] },
  'accept-scheduled': {
    statement: acceptScheduled,
    values: [...accepting, of('null', 100)],
    rowsMax: 200,
    partitions: [],
  },
  'accept-keyed': { statement: acceptKeyed, values: [...accepting, ...keeping], rowsMax: 300, partitions: [] },
  'accept-keyed-scheduled': {
    statement: acceptKeyedScheduled,
    values: [...accepting, of('null', 100), ...keeping],
    rowsMax: 300,
    partitions: [],
  },
  'store-confirmations': {
    statement: storeConfirmations,
    values: [accepting[1], accepting[0], of(1, 100), of(27820000000, 100), of(0, 100), 'you are opted out', 1],
    rowsMax: 200,
    partitions: [],
  },
  'find-first-answer': { statement: findFirstAnswer, values: [keys('key ', 20)[19], keys('d', 1)[0]], rowsMax: 1 },
  'keep-first-answer': {
    statement: keepFirstAnswer,
    values: [1, keys('key ', 20)[19], keys('d', 1)[0], 'done', 7],
    rowsMax: 1,
  },
  'keys-with-answers': {
    statement: keysWithAnswers,
    values: [arrayOf(keys('key ', 100))],
    rowsMax: 200,
  },
  'read-account': { statement: readAccount, values: [1], rowsMax: 1 },
  'lock-account': { statement: lockAccount, values: [1], rowsMax: 1 },
  'read-balances': { statement: readBalances, values: [arrayOf(ids(1, 50))], rowsMax: 50 },
  // Rare: after a lost answer.
  'find-sends': { statement: findSends, values: [arrayOf(sent)], rowsMax: 500, partitions: [0, 1, 2, 3] },
  'find-outcomes': {
    statement: findOutcomes,
    values: [1, `{"${arrayOf(sent)}"}`, arrayOf([Math.min(...sent)]), arrayOf([Math.max(...sent)])],
    rowsMax: 500,
  },
  'covering-sends': { statement: coveringSends, values: [1, arrayOf(sent)], rowsMax: 500 },
  'numbers-in-sends': {
    statement: numbersInSends,
    values: [1, arrayOf(sent), `{${sent.map((id) => `"{${id}}"`).join()}}`],
    rowsMax: 500,
  },
  'matching-suppressions': {
    statement: matchingSuppressions,
    values: [of(1, 100), numbers(ids(1, 100))],
    rowsMax: 200,
  },
  register: { statement: register, values: [30, '1.2.3', 'host', 1], rowsMax: 0 },
  'disown-unknown': { statement: disownUnknown, values: [1, arrayOf([])], rowsMax: 100 },
  extend: { statement: extend, values: [1, 30], rowsMax: 1 },
  'claim-single': { statement: claimSingle, values: [1, 2, 0, 64, 500, 200, 30, 1, 0], rowsMax: 2000 },
  'claim-bulk': { statement: claimBulk, values: [1, 2, 0, 16, 500, 200, 30, 1, 0], rowsMax: 100 },
  mark: { statement: mark, values: [1, 1, 400], rowsMax: 1 },
  record: { statement: record, values: recorded('{1}'), rowsMax: 400 },
  'record-parts': { statement: recordParts, values: [...recorded('{1}'), ...ofParts], rowsMax: 400 },
  'record-late': {
    statement: recordLate,
    values: [...recorded(arrayOf(ids(0, 100).map((i) => [100, 106, 111][i % 3] ?? 0))), ...ofParts],
    rowsMax: 400,
  },
  settle: { statement: settle, values: [1, 1, arrayOf(claimed), of(101, 100)], rowsMax: 400 },
  postpone: { statement: postpone, values: [1, 1, arrayOf(claimed), 60, 0], rowsMax: 100 },
  'give-back': { statement: giveBack, values: [1, 1, arrayOf(claimed)], rowsMax: 100 },
  'queues-with-work': { statement: queuesWithWork, values: [0, '{0,1,2}'], rowsMax: 3 },
  'find-stranded': { statement: findStranded, values: [100], rowsMax: 300 },
  'move-ranges': {
    statement: moveRanges,
    values: [
      of(0, 100),
      of(0, 100),
      of(1, 100),
      arrayOf(singlesOfOne),
      arrayOf(singlesOfOne.map((id) => id + 1)),
      of('"{0}"', 100),
      `{${singlesOfOne.map((id) => `"{${id}}"`).join()}}`,
      `{${singlesOfOne.map((id) => `"{${id + 1}}"`).join()}}`,
    ],
    rowsMax: 200,
  },
  promote: { statement: promote, values: [0, 100, 100], rowsMax: 600 },
  expire: { statement: expire, values: [-3600, 100], rowsMax: 700 },
  'newest-partition': { statement: newestPartition, values: [], rowsMax: 1 },
  'apply-receipts': {
    statement: applyReceipts(1),
    values: [references(sent), of(0, 500), 1, numbers(sent)],
    rowsMax: 2200,
  },
  'known-receipts': {
    statement: knownReceipts(1),
    values: [
      arrayOfTexts([...sent.slice(0, 250).map((id) => `r${id}`), ...parts.map((id) => `p${id}-2`)]),
      arrayOf(ids(0, 500).map((i) => (i < 250 ? 100 : 0))),
      1,
      numbers([...sent.slice(0, 250), ...parts]),
    ],
    rowsMax: 1500,
  },
  'keep-receipts': {
    statement: keepReceipts,
    values: [references(sent), of(0, 500), 1, numbers(sent), of('null', 500)],
    rowsMax: 0,
  },
  'find-senders': { statement: findSenders, values: ['{12025551001,none}'], rowsMax: 2 },
  'add-senders': { statement: addSenders, values: ['{12025551001,none}'], rowsMax: 2 },
  'sender-addresses': { statement: senderAddresses, values: ['{1,2}'], rowsMax: 2 },
  'chosen-senders': { statement: chosenSenders, values: [of(1, 100), numbers(ids(1, 100))], rowsMax: 100 },
  'choose-senders': { statement: chooseSenders, values: [4, numbers(ids(4950, 100)), '{1,2,3,4}'], rowsMax: 100 },
  'note-inbound-messages': {
    statement: noteInboundMessages,
    values: [arrayOf(keys('k', 100)), keys('o', 1)[0]],
    rowsMax: 100,
  },
  'find-noted': { statement: findNoted, values: [arrayOf(keys('k', 100)), keys('o', 1)[0]], rowsMax: 100 },
  'forget-inbound-messages': {
    statement: forgetInboundMessages,
    values: [arrayOf(keys('k', 100))],
    rowsMax: 100,
  },
  'find-waiting-parts': { statement: findWaitingParts, values: [arrayOf(keys('p', 100))], rowsMax: 100 },
  'lock-parts': { statement: lockParts, values: [arrayOf(keys('p', 100)), of('x', 100)], rowsMax: 100 },
  'write-parts': { statement: writeParts, values: [arrayOf(keys('p', 100)), of('[]', 100)], rowsMax: 100 },
  'take-old-parts': { statement: takeOldParts, values: [60, 100], rowsMax: 100 },
  'take-all': { statement: takeInbox.all, values: [1, longAgo, 100, keys('n', 1)[0]], rowsMax: 100 },
  'take-replies': { statement: takeInbox.replies, values: [1, longAgo, 100, keys('n', 1)[0]], rowsMax: 100 },
  'take-short-code': { statement: takeInbox['short-code'], values: [1, longAgo, 100, keys('n', 1)[0]], rowsMax: 100 },
  'put-back': { statement: putBack, values: [1, keys('t', 1)[0]], rowsMax: 1 },
  'find-key': { statement: findKey, values: ['key7'], rowsMax: 1 },
  'find-login': { statement: findLogin, values: ['login7'], rowsMax: 1 },
  'take-rate': { statement: takeRate, values: [1, 0, 1, 10], rowsMax: 1 },
  'count-login-failure': { statement: countLoginFailure, values: [keys('l', 1)[0], 10, 60], rowsMax: 30 },
  'claim-lists': {
    statement: claimLists,
    values: [0, 64, 20, 5, '{}', '{1,2,3}', '{100,200,300}', 30],
    // Twenty lists of a hundred events, and the steps from one endpoint to the next.
    rowsMax: 2500,
  },
  'record-pushes': {
    statement: recordPushes,
    values: [
      arrayOf(someLists),
      of(1, 50),
      of('"2026-01-01T00:00:00Z"', 50),
      arrayOf(ids(0, 50).map((i) => i % 3)),
      of('null', 50),
      of(1, 50),
      of(200, 50),
      of('null', 50),
      of('null', 50),
      of('ok', 50),
    ],
    rowsMax: 100,
  },
  'replay-event': {
    statement: replayEvent,
    values: [1, '{0,1,2,3}', sent[0], 4, null, null],
    rowsMax: 200,
  },
  'release-lists': { statement: releaseLists, values: [arrayOf(someLists), of(1, 50)], rowsMax: 100 },
  'divide-lists': {
    statement: divideLists,
    values: [arrayOf(someLists), of(1, 50), of('[]', 50), of('[]', 50)],
    rowsMax: 100,
  },
  'end-backend': { statement: endBackend, values: [0, '0'], rowsMax: 0 },
  'match-receipts': { statement: matchReceipts, values: [200], rowsMax: 600, partitions: [0, 1, 2, 3] },
}

/** Prepared statements that only call a function, of those below: its statements have the plans. */
export const callers = [
  'release',
  'retire',
  'recover',
  'disown',
  'receive-texts',
  'lease-block',
  'lease-shared',
  'purge-webhooks',
  'webhook-totals',
] as const

/** They read no table of ours: what there is to plan is nothing. */
export const withoutTables = [
  'probe-write',
  'sort-on-disk',
  'probe-room',
  'waits-for-standby',
  'write-nothing',
] as const

/** For other connections, which plan for what is there and may join whole tables. */
export const ordinary = [
  'add-suppression',
  'add-suppressions',
  'add-test-list',
  'adopt-receipts',
  'begin-erasure',
  'check-ledger',
  'delete-waiting',
  'drop-history',
  'end-erasure',
  'enter-credits',
  'erase-contacts',
  'erase-inbound',
  'erase-messages',
  'erase-waiting-events',
  'explain-message',
  'fall-idle',
  'find-deleted',
  'find-events',
  'find-messages',
  'find-operation',
  'find-refund',
  'fold-scheduled',
  'give-up-shared-block',
  'inbound-from',
  'lease-binds',
  'leave-idle',
  'list-all',
  'list-attempts',
  'list-carriers',
  'list-contacts',
  'list-dispatchers',
  'list-erasures',
  'list-opt-outs',
  'list-queue',
  'list-replies',
  'list-scheduled',
  'list-short-code',
  'list-suppressions-of',
  'lock-erasures',
  'next-free-bind',
  'refund-message',
  'release-binds',
  'remove-suppression',
  'renew-binds',
  'latest-replay',
  'next-replay',
  'replay-dead',
  'replay-period',
  'running-replay',
  'start-replay',
  'stop-replay',
  'skip-blocks',
  'list-account-rates',
  'tell-account-rates',
  'tell-carriers',
  'texts-of-messages',
  'transfer',
  'unowned-messages',
  'webhook-backlog',
  'write-events',
] as const

/** Calls of functions, and what they may read whole: tables that stay small. */
export const functions: Readonly<Record<string, readonly string[]>> = {
  'select * from release_claimed_batches(1, 1)': [],
  'select retire(2)': [],
  "update dispatcher set lease_until = now() - interval '1 hour' where id < 5; select * from recover()": ['dispatcher'],
  'select disown(1, 1)': [],
  'select * from lease_block()': ['id_block'],
  'select * from lease_shared(10)': ['id_share', 'id_block'],
  'select * from delete_waiting(1, array(select generate_series(5100002, 5101000, 2)), gen_random_uuid())': [],
  'select * from list_scheduled(1, 100, 100)': [],
  'select transfer_credits(2, 1, 10, now(), gen_random_uuid(), null, null, null)': [],
  "select transfer_credits(2, 1, 10, now(), gen_random_uuid(), 3, md5('key 3')::uuid, gen_random_uuid())": [],
  "select keys_in_use(1, '{1,2,3}', array[md5('key 20'), md5('key 2'), md5('new')]::uuid[])": [],
  "select drop_inbound_messages(now() - interval '90 days', 730, 86400, 1)": [],
  'select adopt_delivery_receipts(0, 300, 259200, 3600, 7)': ['unmatched_delivery_receipt', 'claimed_batch'],
  'select purge_webhooks(100, 30)': ['webhook_replay'],
  'select * from webhook_totals(100)': ['webhook'],
  "select * from drop_block(530, now() + interval '1 day')": ['claimed_batch'],
  "select receive_inbound_messages('{1,1,1}', '{27805300001,27805200001,x}', '{27805300001,27805200001,null}', '{12025551001,null,null}', '{stop,b,c}', '{1,0,0}')":
    ['claimed_batch'],
}

/** The names of all statements of `src/sql`; one that is made for a partition, as of partition 1. */
export async function statementNames(): Promise<readonly string[]> {
  const folder = new URL('../src/sql/', import.meta.url)
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  const modules = await Promise.all(
    files.map(async (file) => (await import(new URL(file, folder).href)) as Readonly<Record<string, unknown>>),
  )
  return modules.flatMap((exported) => Object.values(exported).flatMap(statementsIn)).map(({ name }) => name)
}

function statementsIn(exported: unknown): readonly PreparedStatement<unknown>[] {
  if (typeof exported === 'function')
    return /partition/.test(String(exported)) ? statementsIn((exported as (of: number) => unknown)(1)) : []
  if (typeof exported !== 'object' || exported === null) return []
  if ('name' in exported && 'text' in exported) return [exported as PreparedStatement<unknown>]
  return Object.values(exported).flatMap(statementsIn)
}
