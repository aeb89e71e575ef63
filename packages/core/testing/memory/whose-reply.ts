import {
  OUTCOME,
  type AccountId,
  type MessageId,
  type Msisdn,
  type ReceivedText,
  type SenderAddress,
} from '@gateway/core'
import type { LastContact, MessageRow } from './rows.ts'
import type { MemoryStore } from './store.ts'

export interface Owner {
  /** Undefined: nobody. */
  readonly account: AccountId | undefined
  readonly answers: MessageId | undefined
  readonly shortCode: SenderAddress | undefined
  /** Where an answer to it leaves from. */
  readonly address: SenderAddress | undefined
}

/** Whom a message belongs to (ruling 1.18). */
export function whoseReply(store: MemoryStore, { number, to }: ReceivedText): Owner {
  const address = to !== undefined && store.addresses.has(to as SenderAddress) ? (to as SenderAddress) : undefined
  const owner = address === undefined ? undefined : store.codes.get(address)
  if (owner !== undefined) {
    const answered = number === undefined ? undefined : latest(store, number, (one) => one.account === owner)
    return { account: owner, answers: answered?.id, shortCode: address, address }
  }
  const fits = ({ from }: LastContact) => address === undefined || from === address
  const answered = number === undefined ? undefined : latest(store, number, fits)
  return {
    account: answered?.account,
    answers: answered?.id,
    shortCode: undefined,
    address: address ?? answered?.from,
  }
}

/** The last message to this number that a carrier took or may have taken; that dispatchers hold and may have sent, if there is no other. */
function latest(store: MemoryStore, number: Msisdn, fits: (one: LastContact) => boolean): LastContact | undefined {
  const sent = [...store.messages.values()].flatMap((row) => (row.number === number ? (contactOf(row) ?? []) : []))
  const known = [...sent, ...(store.lastContacts.get(number)?.values() ?? [])].filter(fits)
  return newest(known) ?? newest(flying(store, number).filter(fits))
}

const newest = (contacts: readonly LastContact[]): LastContact | undefined =>
  [...contacts].sort((a, b) => b.at - a.at || b.id - a.id)[0]

/** Undefined: no carrier has it, or it confirms an opt-out. */
export function contactOf({ id, send, from, decision }: MessageRow): LastContact | undefined {
  if (decision === undefined || send.confirmation) return undefined
  if (decision.reference === undefined && decision.code !== OUTCOME.unknown) return undefined
  return { account: send.account, id, from, at: decision.left }
}

const flying = (store: MemoryStore, number: Msisdn): readonly LastContact[] =>
  [...store.dispatchers.values()]
    .flatMap(({ batches }) => [...batches.values()])
    .flatMap(({ held, marked }) => [...held.values()].filter(({ position }) => position <= marked))
    .filter(({ row }) => row.number === number && !row.send.confirmation)
    .map(({ row }) => ({ account: row.send.account, id: row.id, from: row.from, at: store.clock.now() }))
