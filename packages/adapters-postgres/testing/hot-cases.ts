import { createHash } from 'node:crypto'
import {
  accept,
  acceptHeld,
  acceptHeldKeyed,
  acceptHeldKeyedScheduled,
  acceptHeldScheduled,
  acceptKeyed,
  acceptKeyedScheduled,
  acceptScheduled,
  findSends,
} from '../src/sql/accept.ts'
import {
  countLoginFailure,
  findKey,
  findLogin,
  lockAccount,
  readAccount,
  readBalances,
  takeRate,
} from '../src/sql/accounts.ts'
import { arrayOf } from '../src/sql/arrays.ts'
import { disownUnknown, extend, giveBack, postpone, register, settle } from '../src/sql/batches.ts'
import { claimLists } from '../src/sql/claim-lists.ts'
import { claimBulk, claimSingle, queuesWithWork } from '../src/sql/claim.ts'
import { findFirstAnswer, keepFirstAnswer, keysWithAnswers } from '../src/sql/client-requests.ts'
import { releaseHeld, revokeHeld } from '../src/sql/held-sends.ts'
import { expire, findStranded, moveRanges, promote } from '../src/sql/due.ts'
import {
  findJoinedParts,
  findNoted,
  findWaitingParts,
  forgetInboundMessages,
  lockParts,
  noteInboundMessages,
  noteParts,
  storeConfirmations,
  takeOldParts,
  writeParts,
} from '../src/sql/inbound.ts'
import { putBack, takeInbox } from '../src/sql/inbox.ts'
import { divideLists, recordPushes, releaseLists } from '../src/sql/push-events.ts'
import {
  applyReceipts,
  applyRichReceipts,
  keepReceipts,
  knownOptOuts,
  knownReceipts,
  matchReceipts,
  newestPartition,
} from '../src/sql/receipts.ts'
import {
  mark,
  record,
  recordLate,
  recordNotifying,
  recordParts,
  recordPartsNotifying,
  recordPriced,
} from '../src/sql/record.ts'
import { replayEvent } from '../src/sql/replay-events.ts'
import { addSenders, chooseSenders, chosenSenders, findSenders, senderAddresses } from '../src/sql/senders.ts'
import { endBackend } from '../src/sql/server.ts'
import { claimDeliveries, settleDeliveries } from '../src/sql/smpp-deliveries.ts'
import {
  addParts,
  endJoinedParts,
  endParts,
  findParts,
  joinParts,
  lockParts as lockSmppParts,
  revokeParts,
  waitingParts,
} from '../src/sql/smpp-parts.ts'
import type { Statement } from '../src/sql/statement.ts'
import { coveringSends, findOutcomes, numbersInSends, referencesInSends } from '../src/sql/status.ts'
import { matchingSuppressions } from '../src/sql/suppressions.ts'
import type { AnyStatement } from './all-statements.ts'
import { filled } from './filled-database.ts'

/** Statement with values that find rows in a filled database. */
export interface Case {
  readonly statement: AnyStatement
  readonly values: unknown
  /** Maximum number of rows that the statement may read from any one table when all tables are filled. */
  readonly rowsMax: number
  /** Partitions that the statement may read. Defaults to the newest one. */
  readonly partitions?: readonly number[]
}

const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)
const of = <T>(value: T, count: number): readonly T[] => Array.from({ length: count }, () => value)
const numbers = (messages: readonly number[]) => messages.map((id) => 27800000000 + id)
const pricesOf = (count: number) => ({ prices: of('0.0075', count), currencies: of('USD', count) })
const references = (messages: readonly number[]) => messages.map((id) => `r${id}`)
const keys = (kind: string, count: number) =>
  ids(1, count).map((i) => createHash('md5').update(`${kind}${i}`).digest('hex'))
const key = (kind: string, i: number): string => keys(kind, i).at(-1) ?? ''
const longAgo = Date.UTC(2001, 0)
const claimed = ids(filled.claimed.from, 100)
const sent = ids(filled.sent.from, 500)
const parts = ids(filled.inParts.from, 250)
/** Due single sends of account 1. */
const singlesOfOne = ids(0, 100).map((i) => filled.due.from + 1 + 2 * i)
const fresh = ids(5_500_001, 100)
const someLists = ids(1, 50)

const recorded = {
  dispatcher: 1,
  ended: [],
  positions: of(1, 100),
  ids: claimed,
  numbers: numbers(claimed),
  references: references(claimed),
  batches: [1],
  accounts: [1],
  sends: claimed.slice(0, 1),
  senders: [1],
  confirming: [false],
  markedBatches: [1],
  upTo: [400],
  carriers: [1],
}

/** Two parts for each of the first fifty messages of `recorded`. */
const ofParts = {
  partCounts: ids(0, 100).map((i) => (i < 50 ? 2 : 0)),
  partMessages: ids(0, 100).map((i) => 1 + Math.floor(i / 2)),
  partPlaces: ids(0, 100).map((i) => 1 + (i % 2)),
  partReferences: ids(0, 100).map((i) => `new-${i}`),
}

const accepting = {
  accounts: fresh.map((id) => 1 + (id % 200)),
  firstIds: fresh,
  counts: of(1, 100),
  prices: of(10, 100),
  parts: of(1, 100),
  texts: of('hello', 100),
  numbers: of('{27820000000}', 100),
  senders: of(1, 100),
  lanes: of(0, 100),
  routes: of(0, 100),
  references: [],
  validities: [],
  priorities: [],
  options: [],
  flashes: [],
}

const scheduling = { due: of(undefined, 100) }

/** Unused keys. The filled table has rows of other keys. */
const keeping = {
  keyAccounts: accepting.accounts,
  keys: keys('new ', 100),
  digests: keys('d', 100),
  ages: of(0, 100),
  costsLater: of(0, 100),
  answers: of('[]', 100),
}

const holding = { process: key('s', 1), slot: 1 }

const claiming = {
  dispatcher: 1,
  batch: 2,
  cursor: 0,
  messagesMax: 500,
  markedMax: 200,
  leaseSeconds: 30,
  carrier: 1,
  queue: 0,
  rankMax: 1,
  overflowSeconds: null,
}
const batch = { dispatcher: 1, batch: 1 }
const taking = { account: 1, since: longAgo, messagesMax: 100, operation: key('n', 1) }

/** Makes a case. The compiler checks the values against the statement. */
const caseOf = <Values>(
  statement: Statement<Values, unknown>,
  values: NoInfer<Values>,
  rowsMax: number,
  partitions?: readonly number[],
): Case => ({
  statement,
  values,
  rowsMax,
  ...(partitions && { partitions }),
})

/**
 * All statements of the hot connections whose plan can be read. Each account has three endpoints, and a statement reads
 * all three for each event.
 */
const all: readonly Case[] = [
  caseOf(accept, accepting, 200, []),
  caseOf(acceptScheduled, { ...accepting, ...scheduling }, 200, []),
  caseOf(acceptKeyed, { ...accepting, ...keeping }, 300, []),
  caseOf(acceptKeyedScheduled, { ...accepting, ...scheduling, ...keeping }, 300, []),
  caseOf(acceptHeld, { ...accepting, ...holding }, 200, []),
  caseOf(acceptHeldScheduled, { ...accepting, ...scheduling, ...holding }, 200, []),
  caseOf(acceptHeldKeyed, { ...accepting, ...keeping, ...holding }, 300, []),
  caseOf(acceptHeldKeyedScheduled, { ...accepting, ...scheduling, ...keeping, ...holding }, 300, []),
  caseOf(releaseHeld, holding, 1),
  caseOf(revokeHeld, { ...holding, firstIds: singlesOfOne, keys: keys('key ', 100) }, 600),
  caseOf(
    storeConfirmations,
    {
      ids: fresh,
      accounts: accepting.accounts,
      senders: of(1, 100),
      numbers: of(27820000000, 100),
      routes: of(0, 100),
      text: 'you are opted out',
      parts: 1,
    },
    200,
    [],
  ),
  caseOf(findFirstAnswer, { key: key('key ', 20), digest: key('d', 1) }, 1),
  caseOf(
    keepFirstAnswer,
    { account: 1, key: key('key ', 20), digest: key('d', 1), answer: 'done', balance: 7, ageSeconds: 0 },
    1,
  ),
  caseOf(keysWithAnswers, { keys: keys('key ', 100) }, 200),
  caseOf(readAccount, { account: 1 }, 1),
  caseOf(lockAccount, { account: 1 }, 1),
  caseOf(readBalances, { accounts: ids(1, 50) }, 50),
  // Reads all partitions, because it runs only after a lost answer.
  caseOf(findSends, { ids: sent }, 500, [0, 1, 2, 3]),
  caseOf(findOutcomes, { account: 1, ids: [arrayOf(sent)], lo: [Math.min(...sent)], hi: [Math.max(...sent)] }, 500),
  caseOf(coveringSends, { account: 1, ids: sent }, 500),
  caseOf(numbersInSends, { account: 1, sends: sent, ids: sent.map((id) => arrayOf([id])) }, 500),
  caseOf(referencesInSends, { account: 1, sends: sent, ids: sent.map((id) => arrayOf([id])) }, 500),
  caseOf(matchingSuppressions, { accounts: of(1, 100), numbers: numbers(ids(1, 100)) }, 200),
  caseOf(register, { leaseSeconds: 30, version: '1.2.3', host: 'host', pid: 1 }, 0),
  caseOf(disownUnknown, { dispatcher: 1, known: [] }, 100),
  caseOf(extend, { dispatcher: 1, leaseSeconds: 30 }, 1),
  caseOf(claimSingle, { ...claiming, accountsMax: 64 }, 2000),
  caseOf(claimBulk, { ...claiming, rangesMax: 16 }, 100),
  caseOf(mark, { ...batch, upTo: 400 }, 1),
  caseOf(record, recorded, 400),
  caseOf(recordParts, { ...recorded, ...ofParts }, 400),
  caseOf(recordNotifying, recorded, 400),
  caseOf(recordPartsNotifying, { ...recorded, ...ofParts }, 400),
  caseOf(recordPriced, { ...recorded, ...ofParts, ...pricesOf(100) }, 400),
  caseOf(
    recordLate,
    { ...recorded, ...ofParts, ...pricesOf(100), codes: ids(0, 100).map((i) => [100, 106, 111][i % 3] ?? 0) },
    400,
  ),
  caseOf(settle, { ...batch, ids: claimed, codes: of(101, 100) }, 400),
  caseOf(postpone, { ...batch, ids: claimed, waitSeconds: 60, queue: 0 }, 100),
  caseOf(giveBack, { ...batch, ids: claimed }, 100),
  caseOf(queuesWithWork, { lane: 0, queues: [0, 1, 2] }, 3),
  caseOf(findStranded, { rangesMax: 100 }, 300),
  caseOf(
    moveRanges,
    {
      queues: of(0, 100),
      lanes: of(0, 100),
      accounts: of(1, 100),
      ranks: of(0, 100),
      lo: singlesOfOne,
      hi: singlesOfOne.map((id) => id + 1),
      partQueues: of('{0}', 100),
      partLo: singlesOfOne.map((id) => arrayOf([id])),
      partHi: singlesOfOne.map((id) => arrayOf([id + 1])),
    },
    200,
  ),
  caseOf(promote, { after: 0, accountsMax: 100, rangesMax: 100 }, 600),
  caseOf(expire, { validitySeconds: -3600, rangesMax: 100 }, 700),
  caseOf(newestPartition, {}, 1),
  caseOf(
    applyReceipts(1),
    { references: references(sent), codes: of(0, 500), carrier: 1, numbers: numbers(sent) },
    2200,
  ),
  ...[knownReceipts(1), knownOptOuts(1)].map((statement) =>
    caseOf(
      statement,
      {
        references: [...references(sent.slice(0, 250)), ...parts.map((id) => `p${id}-2`)],
        codes: ids(0, 500).map((i) => (i < 250 ? 100 : 0)),
        carrier: 1,
        numbers: numbers([...sent.slice(0, 250), ...parts]),
      },
      1500,
    ),
  ),
  caseOf(
    applyRichReceipts(1),
    {
      ...{ references: references(sent), codes: of(212, 500), carrier: 1, numbers: numbers(sent) },
      ...pricesOf(500),
    },
    1500,
  ),
  caseOf(
    keepReceipts,
    {
      references: references(sent),
      codes: of(0, 500),
      carrier: 1,
      numbers: numbers(sent),
      submitted: of(undefined, 500),
      messages: of(undefined, 500),
      tags: of(undefined, 500),
      areOfPart: of(false, 500),
      ...pricesOf(500),
    },
    0,
  ),
  caseOf(findSenders, { addresses: ['12025551001', 'none'] }, 2),
  caseOf(addSenders, { addresses: ['12025551001', 'none'] }, 2),
  caseOf(senderAddresses, { numbers: [1, 2] }, 2),
  caseOf(chosenSenders, { accounts: of(1, 100), numbers: numbers(ids(1, 100)) }, 100),
  caseOf(chooseSenders, { account: 4, numbers: numbers(ids(4950, 100)), senders: [1, 2, 3, 4] }, 100),
  caseOf(noteInboundMessages, { keys: keys('k', 100), operation: key('o', 1) }, 100),
  caseOf(findNoted, { keys: keys('k', 100), operation: key('o', 1) }, 100),
  caseOf(forgetInboundMessages, { keys: keys('k', 100) }, 100),
  caseOf(findWaitingParts, { keys: keys('p', 100) }, 100),
  caseOf(noteParts, { keys: keys('k', 100), operation: key('o', 1) }, 100),
  caseOf(findJoinedParts, { keys: keys('k', 100) }, 100),
  caseOf(lockParts, { keys: keys('p', 100), common: of('x', 100) }, 100),
  caseOf(writeParts, { keys: keys('p', 100), parts: of('[]', 100) }, 100),
  caseOf(takeOldParts, { ageSeconds: 60, textsMax: 100 }, 100),
  caseOf(takeInbox.all, taking, 100),
  caseOf(takeInbox.replies, taking, 100),
  caseOf(takeInbox['short-code'], taking, 100),
  caseOf(putBack, { account: 1, operation: key('t', 1) }, 1),
  caseOf(findKey, { hash: 'key7' }, 1),
  caseOf(findLogin, { login: 'login7' }, 1),
  caseOf(takeRate, { account: 1, unit: 0, count: 1, perSecond: 10 }, 1),
  // Reads twenty lists of a hundred events and steps from one endpoint to the next.
  caseOf(
    claimLists,
    {
      after: 0,
      endpointsMax: 64,
      listsMax: 20,
      perEndpointMax: 5,
      full: [],
      limited: [1, 2, 3],
      rooms: [100, 200, 300],
      leaseSeconds: 30,
    },
    2500,
  ),
  caseOf(countLoginFailure, { key: key('l', 1), failuresMax: 10, seconds: 60 }, 30),
  caseOf(
    recordPushes,
    {
      lists: someLists,
      tries: of(1, 50),
      at: of(Date.UTC(2026, 0), 50),
      verdicts: ids(0, 50).map((i) => i % 3),
      next: of(undefined, 50),
      milliseconds: of(1, 50),
      statuses: of(200, 50),
      failures: of(undefined, 50),
      retryAfter: of(undefined, 50),
      beginnings: of('ok', 50),
    },
    100,
  ),
  caseOf(
    replayEvent,
    { replay: 1, types: [0, 1, 2, 3], subject: filled.sent.from, sequence: 4, number: null, at: null },
    200,
  ),
  caseOf(releaseLists, { lists: someLists, tries: of(1, 50) }, 100),
  caseOf(divideLists, { lists: someLists, tries: of(1, 50), ones: of('[]', 50), others: of('[]', 50) }, 100),
  caseOf(
    claimDeliveries,
    {
      process: key('s', 1),
      accounts: ids(1, 50),
      credentials: ids(1, 50),
      rooms: of(10, 50),
      leaseSeconds: 30,
    },
    2000,
  ),
  caseOf(
    settleDeliveries,
    {
      process: key('s', 1),
      ids: ids(1, 100),
      tries: of(0, 100),
      isOver: ids(0, 100).map((i) => i % 2 === 0),
      isRefused: of(false, 100),
      isUnsent: of(false, 100),
      pauseSeconds: of(5, 100),
    },
    200,
  ),
  caseOf(
    addParts,
    {
      ids: fresh,
      accounts: accepting.accounts,
      keys: keys('new text', 100),
      parts: of(1, 100),
      totals: of(2, 100),
      numbers: numbers(fresh),
      contents: of('{}', 100),
      receipts: of(1, 100),
      credentials: of(1, 100),
      waitingMax: of(10, 100),
      ...{ process: key('s', 1), slot: 1 },
    },
    1000,
  ),
  caseOf(waitingParts, { accounts: of(1, 100), keys: keys('text', 100) }, 200),
  caseOf(revokeParts, { process: key('s', 1), slot: 1, ids: ids(1000, 100) }, 100),
  caseOf(lockSmppParts, { ids: ids(1000, 100) }, 200),
  caseOf(joinParts, { ids: ids(1000, 100), messages: ids(1000, 100) }, 100),
  caseOf(endParts, { ids: ids(1000, 100), code: 214 }, 200),
  caseOf(endJoinedParts, { ids: ids(5000, 100), code: 201 }, 200),
  caseOf(findParts, { account: 1, ids: ids(1000, 500) }, 500),
  caseOf(endBackend, { pid: 0, start: '0' }, 0),
  caseOf(matchReceipts, { dueMax: 200 }, 600, [0, 1, 2, 3]),
]

/** Cases by the name of the statement, without the number of a partition. */
export const cases: Readonly<Record<string, Case>> = Object.fromEntries(
  all.map((one) => [one.statement.name.replace(/-[0-9]+$/, ''), one]),
)

/**
 * Prepared statements that only call one of the functions below. The statements inside these functions have the plans.
 */
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

/** Statements that read no table of the gateway, so that they have no plan to check. */
export const withoutTables = [
  'probe-write',
  'examine-settings',
  'examine-standbys',
  'examine-vitals',
  'examine-work',
  'whether-primary',
  'which-timeline',
  'sort-on-disk',
  'probe-room',
  'waits-for-standby',
  'write-nothing',
] as const

/**
 * Statements of the ordinary connections. PostgreSQL plans them for the current tables, and they may join whole tables.
 */
export const ordinary = [
  'add-promotion',
  'add-smpp-bind',
  'add-suppressions',
  'add-test-list',
  'adopt-receipts',
  'append-audit-entry',
  'balance-before-movements',
  'beat',
  'begin-erasure',
  'begin-movements',
  'busiest-accounts',
  'check-audit-log',
  'check-daily-sums',
  'check-ledger',
  'close-smpp-binds',
  'count-bulk-outcomes',
  'count-smpp-binds',
  'count-unknown-outcomes',
  'count-unread',
  'count-waiting-smpp-parts',
  'daily-sums-by-carrier',
  'daily-sums-of-account',
  'decide-promotions',
  'delete-waiting',
  'doubt-waiting',
  'drop-held-sends',
  'drop-history',
  'drop-smpp-deliveries',
  'drop-smpp-parts',
  'drop-unread-receipts',
  'end-dispatchers',
  'end-erasure',
  'end-promotions',
  'end-ranges',
  'enter-credits',
  'erase-answers',
  'erase-bulk-texts',
  'erase-contacts',
  'erase-inbound',
  'erase-messages',
  'erase-smpp-data',
  'erase-smpp-numbers',
  'erase-waiting-events',
  'expire-ranges',
  'expire-smpp-parts',
  'explain-message',
  'fail-over-bulk-sends',
  'fall-idle',
  'find-bulk-send',
  'find-conversation',
  'find-deleted',
  'find-events',
  'find-lone-smpp-part',
  'find-messages',
  'find-operation',
  'find-operator-session',
  'find-referenced',
  'find-refund',
  'find-sent',
  'find-session',
  'fold-daily-sums',
  'fold-scheduled',
  'give-up-shared-block',
  'inbound-from',
  'keep-rate',
  'keep-unknown-references',
  'keep-unread-receipts',
  'last-send',
  'latest-replay',
  'lease-binds',
  'leave-idle',
  'list-account-rates',
  'list-all',
  'list-attempts',
  'list-audited-changes',
  'list-bulk-drafts',
  'list-bulk-runs',
  'list-bulk-sends',
  'list-carriers',
  'list-contacts',
  'list-conversations',
  'list-dispatchers',
  'list-erasures',
  'list-factor-secrets',
  'list-failed-over-sends',
  'list-movements',
  'list-operator-sessions',
  'list-opt-outs',
  'list-promotions',
  'list-queue',
  'list-replies',
  'list-rows-of',
  'list-scheduled',
  'list-sent',
  'list-sessions',
  'list-short-code',
  'list-smpp-binds',
  'list-suppressions-of',
  'list-unmatched-receipts',
  'list-unread',
  'list-unread-receipts',
  'list-waiting-routes',
  'lock-erasures',
  'lock-primary',
  'lock-promotions',
  'lock-smpp-credential',
  'look-at-primary',
  'lock-repetitions',
  'mark-read',
  'name-unknown-messages',
  'next-free-bind',
  'next-replay',
  'probe-smpp-binds',
  'prove-by-receipts',
  'prove-submitted',
  'rates-of-smpp-binds',
  'read-audit-entries',
  'read-fleet-state',
  'read-primary',
  'refund-message',
  'release-binds',
  'remember-first-primary',
  'remember-primary',
  'remove-suppression',
  'renew-binds',
  'replace-factor-secrets',
  'replay-dead',
  'replay-period',
  'report-account-rates',
  'report-smpp-binds',
  'running-replay',
  'see-smpp-process',
  'send-ranges',
  'show-statement-page',
  'skip-blocks',
  'start-replay',
  'stop-replay',
  'sum-figures',
  'sum-returned',
  'take-bulk-call',
  'take-repeatable',
  'take-unknown-messages',
  'texts-of-messages',
  'transfer',
  'unjoined-smpp-texts',
  'unowned-messages',
  'waiting-smpp-deliveries',
  'webhook-backlog',
  'write-events',
] as const

/** Calls of functions, each with the small tables that the function may read whole. */
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
