import type { Msisdn, ReceivedText, SenderAddress } from '@gateway/core'
import { isContact, replyOwner, type KnownAddress, type ReplyOwner } from '../contracts/specification/replies.ts'
import { outcomeOf } from './facts.ts'
import type { LastContact, MessageRow } from './rows.ts'
import type { MemoryStore } from './store.ts'

/** Whom an inbound message belongs to (ruling 1.18). */
export const whoseReply = (store: MemoryStore, { number, to }: ReceivedText): ReplyOwner =>
  number === undefined
    ? replyOwner(knownAddress(store, to), [], [])
    : replyOwner(knownAddress(store, to), sentTo(store, number), inFlightTo(store, number))

function knownAddress(store: MemoryStore, to: string | undefined): KnownAddress | undefined {
  const address = to as SenderAddress
  return store.addresses.has(address) ? { address, owner: store.codes.get(address) } : undefined
}

const sentTo = (store: MemoryStore, number: Msisdn): readonly LastContact[] => [
  ...[...store.messages.values()].flatMap((row) => (row.number === number ? (contactOf(row) ?? []) : [])),
  ...(store.lastContacts.get(number)?.values() ?? []),
]

/** Undefined: no carrier has it, or it confirms an opt-out. */
export function contactOf({ id, send, from, decision }: MessageRow): LastContact | undefined {
  if (decision === undefined || !isContact(outcomeOf(decision), send.confirmation)) return undefined
  return { account: send.account, id, from, at: decision.left }
}

const inFlightTo = (store: MemoryStore, number: Msisdn): readonly LastContact[] =>
  [...store.dispatchers.values()]
    .flatMap(({ batches }) => [...batches.values()])
    .flatMap(({ held, marked }) => [...held.values()].filter(({ position }) => position <= marked))
    .filter(({ row }) => row.number === number && !row.send.confirmation)
    .map(({ row }) => ({ account: row.send.account, id: row.id, from: row.from, at: store.clock.now() }))
