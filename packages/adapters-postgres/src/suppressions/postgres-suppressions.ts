import type {
  Instant,
  Msisdn,
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
    optOuts: () => {
      throw new Error('opt-outs are not listed')
    },
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
  for (let after = ''; ;) {
    const rows = await kysely
      .selectFrom('suppression')
      .select([asText.as('number'), 'since'])
      .where('account_id', '=', scopeId(scope))
      .where('kind', '=', SUPPRESSION[kind])
      .where(asText, '>', after as Msisdn)
      .orderBy(asText)
      .limit(pageRows)
      .execute()
    for (const { number, since } of rows) yield { scope, number, kind, since: since as Instant }
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageRows) return
    after = last.number
  }
}
