import type {
  AccountId,
  Msisdn,
  Suppression,
  SuppressionEntry,
  SuppressionKey,
  Suppressions,
  SuppressionScope,
} from '@gateway/core'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export const memorySuppressions = (store: MemoryStore): Suppressions => ({
  matching: atomic((by, numbers) => {
    const found = numbers.map((number) => [number, suppressionsOf(store, by, number)] as const)
    return new Map(found.filter(([, kinds]) => kinds.size > 0))
  }),
  add: atomic((entry) => add(store, entry)),
  remove: atomic((key) => remove(store, key)),
  list: (scope, kind) => listed(store, scope, kind),
})

/** What holds for messages of this account to this number. */
export const suppressionsOf = (store: MemoryStore, by: AccountId, number: Msisdn): ReadonlySet<Suppression> =>
  new Set(
    ([by, 'everybody'] as const).flatMap((scope) => [...(store.suppressions.get(scope)?.get(number)?.keys() ?? [])]),
  )

function add(store: MemoryStore, { scope, number, kind, since }: SuppressionEntry): 'added' | 'already' {
  const numbers = store.suppressions.get(scope) ?? new Map<Msisdn, Map<Suppression, typeof since>>()
  const kinds = numbers.get(number) ?? new Map<Suppression, typeof since>()
  if (kinds.has(kind)) return 'already'
  kinds.set(kind, since)
  numbers.set(number, kinds)
  store.suppressions.set(scope, numbers)
  return 'added'
}

function remove(store: MemoryStore, { scope, number, kind }: SuppressionKey): boolean {
  const numbers = store.suppressions.get(scope)
  const kinds = numbers?.get(number)
  const removed = kinds?.delete(kind) ?? false
  if (kinds?.size === 0) numbers?.delete(number)
  return removed
}

// eslint-disable-next-line @typescript-eslint/require-await -- async for those who wait for each, as they must elsewhere
async function* listed(
  store: MemoryStore,
  scope: SuppressionScope,
  kind: Suppression,
): AsyncIterable<SuppressionEntry> {
  const numbers = store.suppressions.get(scope) ?? new Map<Msisdn, Map<Suppression, SuppressionEntry['since']>>()
  for (const number of [...numbers.keys()].sort()) {
    const since = numbers.get(number)?.get(kind)
    if (since !== undefined) yield { scope, number, kind, since }
  }
}
