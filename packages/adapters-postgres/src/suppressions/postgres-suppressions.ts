import type { AccountId } from '@gateway/core/accounts'
import type { Msisdn } from '@gateway/core/messages'
import type {
  ListedSuppression,
  OptOut,
  Suppression,
  SuppressionEntry,
  SuppressionKey,
  Suppressions,
  SuppressionScope,
} from '@gateway/core/suppressions'
import { instant } from '@gateway/core/time'
import { sql, type Kysely } from 'kysely'
import { askAboutNumbers } from '../batcher.ts'
import type { Connections } from '../connections.ts'
import type { Context } from '../context.ts'
import {
  addSuppressions,
  listOptOuts,
  matchingSuppressions,
  removeSuppression,
  type StoredReply,
} from '../sql/suppressions.ts'
import type { RowOf } from '../sql/statement.ts'
import type { Tables } from '../tables.ts'
import { SUPPRESSION, suppressionOf } from '../stored-codes.ts'

export function postgresSuppressions({ pools: { hot, ordinary, kysely } }: Context): Suppressions {
  const match = askAboutNumbers(async (accounts, numbers) => {
    const kinds = new Map<number, Set<Suppression>>()
    for (const { place, kind } of await hot.run(matchingSuppressions, { accounts, numbers })) {
      kinds.set(place, (kinds.get(place) ?? new Set()).add(suppressionOf(kind)))
    }
    return kinds
  })

  async function addAll(
    scope: SuppressionScope,
    kind: Suppression,
    entries: readonly ListedSuppression[],
  ): Promise<number> {
    const [row] = await ordinary.run(addSuppressions, {
      account: scopeId(scope),
      kind: SUPPRESSION[kind],
      numbers: entries.map(({ number }) => number),
      since: entries.map(({ since }) => since),
      texts: entries.map(({ text }) => text),
    })
    return row?.added ?? 0
  }

  async function remove(key: SuppressionKey): Promise<boolean> {
    return (await ordinary.run(removeSuppression, rowOf(key))).length > 0
  }
  return {
    matching: async (by, numbers) => (numbers.length === 0 ? new Map() : match({ by, numbers })),
    add: async ({ scope, kind, number, since }) =>
      (await addAll(scope, kind, [{ number, since }])) === 1 ? 'added' : 'already',
    addAll,
    remove,
    list: (scope, kind) => listed(kysely, scope, kind),
    optOuts: (by) => optOuts(ordinary, by),
  }
}

/** Account in the tables; 0 stands for everybody. */
const scopeId = (scope: SuppressionScope): AccountId | 0 => (scope === 'everybody' ? 0 : scope)

const rowOf = ({ scope, number, kind }: SuppressionKey) => ({
  account: scopeId(scope),
  number,
  kind: SUPPRESSION[kind],
})

const pageRows = 300
/**
 * Size of a piece. Listing half a million opt-outs three times grew a server by 43 to 54 MB, in pieces of 300 by 68 MB.
 */
const pieceRows = 100
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
      .where(sql<boolean>`${asText} > ${after}`)
      .orderBy(asText)
      .limit(pageRows)
      .execute()
  for (let after = ''; ;) {
    const rows = await page(after)
    for (const { number, since } of rows) yield { scope, number, kind, since }
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageRows) return
    after = last.number
  }
}

async function* optOuts(ordinary: Connections, by: AccountId): AsyncIterable<readonly OptOut[]> {
  for (let after = ''; ;) {
    const [row] = await ordinary.run(listOptOuts, { account: by, after, limit: pieceRows })
    const piece = row === undefined ? [] : optOutsOf(row)
    const last = piece.at(-1)
    if (last === undefined) return
    yield piece
    if (piece.length < pieceRows) return
    after = last.number
  }
}

function optOutsOf({ numbers, since, replies }: RowOf<typeof listOptOuts>): readonly OptOut[] {
  if (numbers === null) return []
  const times = since.split(',')
  return (numbers.split(',') as Msisdn[]).map((number, i) => ({
    number,
    since: instant(Number(times[i])),
    reply: replyOf(replies[i] ?? null),
  }))
}

function replyOf(stored: StoredReply | null): OptOut['reply'] {
  if (stored === null) return undefined
  const [id, text, answers] = stored
  return {
    id: id ?? undefined,
    text,
    answers: answers ?? undefined,
  }
}
