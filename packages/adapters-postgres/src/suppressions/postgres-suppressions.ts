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
import type { Connections } from '../connections.ts'
import type { Context } from '../context.ts'
import { timestamp } from '../sql/arrays.ts'
import { listOptOuts, type OptOutRow } from '../sql/list-opt-outs.ts'
import type { Tables } from '../tables.ts'
import { matchNumbers } from './match-numbers.ts'
import { scopeId, SUPPRESSION } from './suppression-kind.ts'

export function postgresSuppressions({ pools: { hot, ordinary, kysely } }: Context): Suppressions {
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
    // The reply that made an opt-out holds for its moment only; what an entry that is gone was made by is nobody's business.
    const removed = await kysely
      .with('reply', (with_) =>
        with_
          .deleteFrom('opt_out_reply')
          .where('account_id', '=', account_id)
          .where('msisdn', '=', kind === SUPPRESSION['opt-out'] ? msisdn : 0),
      )
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
    optOuts: (by) => optOuts(ordinary, by),
  }
}

const columns = ({ scope, number, kind }: SuppressionKey) => ({
  account_id: scopeId(scope),
  msisdn: Number(number),
  kind: SUPPRESSION[kind],
})

const pageRows = 300
const asText = sql<Msisdn>`(msisdn::text) collate "C"`

async function* listed(
  kysely: Kysely<Tables>,
  scope: SuppressionScope,
  kind: Suppression,
): AsyncIterable<SuppressionEntry> {
  const page = (after: string) =>
    kysely
      .selectFrom('suppression')
      .select([asText.as('number'), 'since'])
      .where('account_id', '=', scopeId(scope))
      .where('kind', '=', SUPPRESSION[kind])
      .where(asText, '>', after as Msisdn)
      .orderBy(asText)
      .limit(pageRows)
      .execute()
  for await (const { number, since } of inPieces(page)) yield { scope, number, kind, since: since as Instant }
}

async function* optOuts(ordinary: Connections, by: AccountId): AsyncIterable<OptOut> {
  const page = (after: string) => ordinary.run(listOptOuts, [by, after, pageRows])
  for await (const row of inPieces(page)) {
    yield { number: row.number as Msisdn, since: row.since as Instant, reply: replyOf(row) }
  }
}

function replyOf({ arrival, text, answers }: OptOutRow): OptOut['reply'] {
  if (arrival === null) return undefined
  return { id: arrival as ArrivalId, text: text ?? '', answers: (answers ?? undefined) as MessageId | undefined }
}

async function* inPieces<Row extends { readonly number: string }>(
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
