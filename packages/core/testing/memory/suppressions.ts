import type { AccountId } from '@gateway/core/accounts'
import type { Msisdn } from '@gateway/core/messages'
import type {
  OptOut,
  Suppression,
  SuppressionEntry,
  SuppressionKey,
  Suppressions,
  SuppressionScope,
} from '@gateway/core/suppressions'
import { atomic } from './atomic.ts'
import { storeOptOutEvent } from './store-events.ts'
import type { MemoryStore } from './store.ts'

export const memorySuppressions = (store: MemoryStore): Suppressions => ({
  matching: atomic((by, numbers) => {
    const found = numbers.map((number) => [number, suppressionsOf(store, by, number)] as const)
    return new Map(found.filter(([, kinds]) => kinds.size > 0))
  }),
  add: atomic((entry) => addSuppression(store, entry)),
  addAll: atomic((scope, kind, entries) => {
    const reply = (text: string | undefined) =>
      text === undefined ? undefined : { id: undefined, text, answers: undefined }
    const added = entries.map(({ text, ...entry }) => addSuppression(store, { ...entry, scope, kind }, reply(text)))
    return added.filter((one) => one === 'added').length
  }),
  remove: atomic((key) => removeSuppression(store, key)),
  list: (scope, kind) => listed(store, scope, kind),
  optOuts: (by) => optOuts(store, by),
})

/** Returns the suppressions of messages of this account to this number. */
export const suppressionsOf = (store: MemoryStore, by: AccountId, number: Msisdn): ReadonlySet<Suppression> =>
  new Set(
    ([by, 'everybody'] as const).flatMap((scope) => [...(store.suppressions.get(scope)?.get(number)?.keys() ?? [])]),
  )

/** Adds a suppression, with the reply that caused it if it is an opt-out by reply. */
export function addSuppression(
  store: MemoryStore,
  { scope, number, kind, since }: SuppressionEntry,
  reply?: NonNullable<OptOut['reply']>,
): 'added' | 'already' {
  const numbers = store.suppressions.get(scope) ?? new Map<Msisdn, Map<Suppression, typeof since>>()
  const kinds = numbers.get(number) ?? new Map<Suppression, typeof since>()
  if (kinds.has(kind)) return 'already'
  kinds.set(kind, since)
  numbers.set(number, kinds)
  store.suppressions.set(scope, numbers)
  if (scope !== 'everybody' && reply !== undefined) {
    const replies = store.optOutReplies.get(scope) ?? new Map<Msisdn, typeof reply>()
    store.optOutReplies.set(scope, replies.set(number, reply))
  }
  if (scope !== 'everybody' && kind === 'opt-out') {
    const { id: inbound, text, answers } = reply ?? {}
    storeOptOutEvent(store, scope, { type: 'optout.added', number, at: store.clock.now(), inbound, answers, text })
  }
  return 'added'
}

/** Removes a suppression. `by` is the inbound message that requested the removal, if there is one. */
export function removeSuppression(
  store: MemoryStore,
  { scope, number, kind }: SuppressionKey,
  by?: Omit<Parameters<typeof storeOptOutEvent>[2], 'type' | 'number'>,
): boolean {
  const numbers = store.suppressions.get(scope)
  const kinds = numbers?.get(number)
  const removed = kinds?.delete(kind) ?? false
  if (kinds?.size === 0) numbers?.delete(number)
  if (scope !== 'everybody' && kind === 'opt-out') store.optOutReplies.get(scope)?.delete(number)
  if (removed && scope !== 'everybody' && kind === 'opt-out') {
    storeOptOutEvent(store, scope, { type: 'optout.removed', number, ...(by ?? { at: store.clock.now() }) })
  }
  return removed
}

// oxlint-disable-next-line typescript/require-await -- the port returns an async iterable
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

const pieceOptOuts = 100

async function* optOuts(store: MemoryStore, by: AccountId): AsyncIterable<readonly OptOut[]> {
  let piece: OptOut[] = []
  for await (const { number, since } of listed(store, by, 'opt-out')) {
    piece.push({ number, since, reply: store.optOutReplies.get(by)?.get(number) })
    if (piece.length < pieceOptOuts) continue
    yield piece
    piece = []
  }
  if (piece.length > 0) yield piece
}
