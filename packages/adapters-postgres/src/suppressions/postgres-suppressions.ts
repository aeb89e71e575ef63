import type {
  AccountId,
  ArrivalId,
  Instant,
  MessageId,
  Msisdn,
  OptOut,
  Suppression,
  SuppressionEntry,
  SuppressionKey,
  Suppressions,
  SuppressionScope,
} from '@gateway/core'
import { sql, type Kysely } from 'kysely'
import type { Context } from '../context.ts'
import { timestamp } from '../sql/arrays.ts'
import type { Tables } from '../tables.ts'
import { matchNumbers } from './match-numbers.ts'
import { scopeId, SUPPRESSION } from './suppression-kind.ts'

export function postgresSuppressions({ pools: { hot, kysely } }: Context): Suppressions {
  const match = matchNumbers(hot)

  async function add({ since, ...key }: SuppressionEntry): Promise<'added' | 'already'> {
    const added = await kysely
      .insertInto('suppression')
      .values({ ...columns(key), since: timestamp(since) })
      .onConflict((conflict) => conflict.doNothing())
      .returning('kind')
      .execute()
    return added.length > 0 ? 'added' : 'already'
  }

  async function remove(key: SuppressionKey): Promise<boolean> {
    const { account_id, msisdn, kind } = columns(key)
    const removed = await kysely
      .deleteFrom('suppression')
      .where('account_id', '=', account_id)
      .where('msisdn', '=', msisdn)
      .where('kind', '=', kind)
      .returning('kind')
      .execute()
    return removed.length > 0
  }
  return {
    matching: async (by, numbers) => (numbers.length === 0 ? new Map() : match({ by, numbers })),
    add,
    remove,
    list: (scope, kind) => listed(kysely, scope, kind),
    optOuts: (by) => optOuts(kysely, by),
  }
}

const columns = ({ scope, number, kind }: SuppressionKey) => ({
  account_id: scopeId(scope),
  msisdn: Number(number),
  kind: SUPPRESSION[kind],
})

const pageRows = 1000
const asText = sql<Msisdn>`(msisdn::text) collate "C"`

async function* listed(
  kysely: Kysely<Tables>,
  scope: SuppressionScope,
  kind: Suppression,
): AsyncIterable<SuppressionEntry> {
  const page = (after: string) => pageOf(kysely, scope, kind, after).execute()
  for await (const { number, since } of inPieces(page)) yield { scope, number, kind, since: since as Instant }
}

async function* optOuts(kysely: Kysely<Tables>, by: AccountId): AsyncIterable<OptOut> {
  const page = (after: string) =>
    pageOf(kysely, by, 'opt-out', after).select(['arrival_id', 'reply', 'answers']).execute()
  for await (const { number, since, arrival_id, reply, answers } of inPieces(page)) {
    const made =
      arrival_id === null
        ? undefined
        : { id: arrival_id as ArrivalId, text: reply ?? '', answers: (answers ?? undefined) as MessageId | undefined }
    yield { number, since: since as Instant, reply: made }
  }
}

const pageOf = (kysely: Kysely<Tables>, scope: SuppressionScope, kind: Suppression, after: string) =>
  kysely
    .selectFrom('suppression')
    .select([asText.as('number'), 'since'])
    .where('account_id', '=', scopeId(scope))
    .where('kind', '=', SUPPRESSION[kind])
    .where(asText, '>', after as Msisdn)
    .orderBy(asText)
    .limit(pageRows)

async function* inPieces<Row extends { readonly number: Msisdn }>(
  page: (after: string) => Promise<readonly Row[]>,
): AsyncIterable<Row> {
  for (let after = ''; ;) {
    const rows = await page(after)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageRows) return
    after = last.number
  }
}
