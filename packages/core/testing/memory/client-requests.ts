import type { ClientRequest, ClientRequests, FirstAnswer } from '@gateway/core'
import { isKept } from '../contracts/specification/messages.ts'
import { atomic } from './atomic.ts'
import type { ClientRequestRow } from './rows.ts'
import type { MemoryStore } from './store.ts'

export const memoryClientRequests = (store: MemoryStore): ClientRequests => ({
  find: atomic((request) => answerTo(request, keptRequest(store, request))),
  keep: atomic((request, answer) => {
    const kept = keptRequest(store, request)
    if (kept === undefined) keepAnswer(store, request, answer)
    return answerTo(request, kept) ?? answer
  }),
})

export function keptRequest(store: MemoryStore, request: ClientRequest): ClientRequestRow | undefined {
  const row = store.clientRequests.get(keyOf(request))
  return row !== undefined && isKept(row.at, store.clock.now()) ? row : undefined
}

export function keepAnswer(store: MemoryStore, request: ClientRequest, answer: FirstAnswer): void {
  store.clientRequests.set(keyOf(request), { asked: request.asked, answer, at: store.clock.now() })
}

const keyOf = ({ account, key }: ClientRequest): string => `${account} ${key}`

const answerTo = ({ asked }: ClientRequest, kept: ClientRequestRow | undefined) =>
  kept === undefined || kept.asked === asked ? kept?.answer : 'another-request'
