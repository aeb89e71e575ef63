import { may, type AccountId } from '@gateway/core/accounts'
import { OUTCOME, type MessageId, type Order, type OutcomeCode } from '@gateway/core/messages'
import type { NewPart, SmppParts, StoredPart, WholeText } from '@gateway/core/smpp-customers'
import { secondsAfter } from '@gateway/core/time'
import { atomic } from './atomic.ts'
import { debit, newMessageId, senderOf, storeText } from './messages.ts'
import type { SmppPartRow } from './rows.ts'
import { storeReceipt } from './smpp-deliveries.ts'
import type { MemoryStore } from './store.ts'

export const memorySmppParts = (store: MemoryStore): SmppParts => ({
  add: atomic((part, waitingMax, deadline) => {
    if (deadline?.isMissed === true) return 'overloaded'
    const siblings = siblingsOf(store, part)
    const repeated = siblings.find((one) => one.part.part === part.part)
    if (repeated !== undefined && !isSameContent(repeated.part, part)) return 'another-part'
    if (repeated === undefined && waitingOf(store, part.account).length >= waitingMax) return 'too-many-parts'
    if (deadline?.meet() === false) return 'overloaded'
    const stored = repeated?.part ?? { ...part, id: newMessageId(store) }
    if (repeated === undefined)
      store.smppParts.set(stored.id, { part: stored, at: store.clock.now(), state: 'waiting' })
    return { id: stored.id, whole: Promise.resolve(wholeText(siblingsOf(store, part))) }
  }),
  join: atomic((parts, order) => join(store, parts, order)),
  refuse: atomic((parts, code) => {
    const rows = waitingRows(store, parts)
    if (rows === undefined) return false
    end(store, rows, code)
    return true
  }),
  unjoined: atomic((seconds, textsMax) => {
    const before = secondsAfter(store.clock.now(), -seconds)
    const old = textsOf(store).filter((rows) => rows.every(({ at }) => at <= before))
    return old
      .map(wholeText)
      .filter((whole) => whole !== undefined)
      .slice(0, textsMax)
  }),
  expire: atomic((seconds, textsMax) => {
    const before = secondsAfter(store.clock.now(), -seconds)
    const isOld = (rows: readonly SmppPartRow[]) =>
      wholeText(rows) === undefined && rows.every(({ at }) => at <= before)
    const old = textsOf(store).filter(isOld).slice(0, textsMax).flat()
    end(store, old, OUTCOME.expired)
    return old.length
  }),
  findLone: atomic((id) => {
    const row = store.smppParts.get(id)
    if (row === undefined || (row.state !== 'waiting' && 'message' in row.state)) return undefined
    const { account, number, part, total, options } = row.part
    const { credential, remote } = options.smpp
    const systemId = store.smppCredentials.get(credential)?.credential.systemId
    const ended = row.state === 'waiting' ? undefined : row.state
    const incidents = store.incidents.get(id) ?? []
    return {
      id,
      account,
      number,
      part,
      total,
      bind: { credential, systemId, remote },
      stored: row.at,
      ended,
      incidents,
    }
  }),
  waiting: atomic((account) => waitingOf(store, account).length),
})

const waitingOf = (store: MemoryStore, account: AccountId): readonly SmppPartRow[] =>
  [...store.smppParts.values()].filter(({ part, state }) => part.account === account && state === 'waiting')

const keyOf = ({ account, number, sender, reference, total }: NewPart): string =>
  JSON.stringify([account, number, sender, reference, total])

const siblingsOf = (store: MemoryStore, part: NewPart): readonly SmppPartRow[] =>
  waitingOf(store, part.account).filter((row) => keyOf(row.part) === keyOf(part))

const isSameContent = (a: NewPart, b: NewPart): boolean => JSON.stringify(a.coded) === JSON.stringify(b.coded)

function textsOf(store: MemoryStore): readonly (readonly SmppPartRow[])[] {
  const texts = new Map<string, SmppPartRow[]>()
  for (const row of store.smppParts.values()) {
    if (row.state !== 'waiting') continue
    const key = keyOf(row.part)
    texts.set(key, [...(texts.get(key) ?? []), row])
  }
  return [...texts.values()]
}

function wholeText(rows: readonly SmppPartRow[]): WholeText | undefined {
  const parts = rows.map(({ part }) => part).sort((a, b) => a.part - b.part)
  return parts.length > 0 && parts.length === parts[0]?.total ? parts : undefined
}

/** Returns the rows of the parts; undefined if one of them no longer waits. */
function waitingRows(store: MemoryStore, ids: readonly MessageId[]): readonly SmppPartRow[] | undefined {
  const rows = ids.flatMap((id) => store.smppParts.get(id) ?? [])
  return rows.length === ids.length && rows.every(({ state }) => state === 'waiting') ? rows : undefined
}

function join(store: MemoryStore, ids: readonly MessageId[], order: Order): 'joined' | 'refused' | 'over' {
  const rows = waitingRows(store, ids)
  const [text] = order.texts
  const [first] = ids
  const [recipient] = text?.to ?? []
  const account = store.accounts.get(order.account)
  if (rows === undefined) return 'over'
  if (text === undefined || recipient === undefined || first === undefined || account === undefined)
    throw new Error('the order of a joined text needs one recipient')
  if (!may(account.account, 'send') || account.balance < recipient.cost) {
    end(store, rows, may(account.account, 'send') ? OUTCOME.insufficientCredits : OUTCOME.accountLocked)
    return 'refused'
  }
  const from = recipient.from ?? senderOf(store, order, recipient.number)
  const { published: routes } = store.routes
  const stored = storeText(store, text, { account: order.account, from: () => from, routes, id: first })
  debit(store, account, stored)
  for (const row of rows) {
    row.state = { message: first }
    row.part = withoutText(row.part)
  }
  return 'joined'
}

const withoutText = (part: StoredPart): StoredPart => ({ ...part, coded: { ...part.coded, octets: '' } })

/** Ends parts with a code, at no cost, with the receipts that they requested. */
export function end(store: MemoryStore, rows: readonly SmppPartRow[], code: OutcomeCode): void {
  const at = store.clock.now()
  for (const row of rows) {
    row.state = { code, at }
    row.part = withoutText(row.part)
    const { id, account, number, options } = row.part
    const { smpp } = options
    storeReceipt(store, account, {
      ...{ message: id, number, from: undefined, smpp, code, isAccepted: false, at },
      ...{ receipts: smpp.receipts, submitted: row.at, notedOn: id },
    })
  }
}
