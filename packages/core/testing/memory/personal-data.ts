import { OUTCOME, type Msisdn } from '@gateway/core/messages'
import {
  erasedNumber,
  formsOf,
  holdsUp,
  nextKindOf,
  nothingErased,
  type ErasureId,
  type ErasureStep,
  type StoredContact,
  type StoredInbound,
  type StoredSuppression,
  type PersonalData,
} from '@gateway/core/personal-data'
import type { Suppression } from '@gateway/core/suppressions'
import type { WebhookEvent } from '@gateway/core/webhooks'
import { atomic } from './atomic.ts'
import { forgetRowsOf, listedRows } from './bulk-sends.ts'
import { end } from './smpp-parts.ts'
import type { MemoryStore } from './store.ts'

const kinds: readonly Suppression[] = ['opt-out', 'do-not-contact', 'blacklist']

/** Maximum number of rows changed per step. */
const stepMax = 100

export const memoryPersonalData = (store: MemoryStore): PersonalData => ({
  texts: atomic(
    (ids) =>
      new Map(
        ids.flatMap((id) => {
          const row = store.messages.get(id)
          return row === undefined ? [] : [[id, row.send.body.text] as const]
        }),
      ),
  ),
  inbound: (number) => inboundFrom(store, number),
  contacts: atomic((number) => contactsOf(store, number)),
  suppressions: atomic((number) => suppressionsOf(store, number)),
  listed: atomic((number) => listedRows(store, number)),
  erase: atomic((number, step) => {
    const changed = erasers[step.at](store, number)
    const next = changed === stepMax ? step : nextKindOf(step)
    return { erased: { ...nothingErased, [step.at]: changed }, next }
  }),
  begin: atomic(({ digest, by }) => {
    const id = store.next('erasure') as ErasureId
    store.erasures.push({ id, digest, by, begun: store.clock.now(), ended: undefined, erased: nothingErased })
    return id
  }),
  end: atomic((id, erased) => {
    const at = store.erasures.findIndex((one) => one.id === id)
    const found = store.erasures[at]
    if (found !== undefined) store.erasures[at] = { ...found, ended: store.clock.now(), erased }
  }),
  erasures: atomic(() => store.erasures.toReversed()),
})

// oxlint-disable-next-line typescript/require-await -- all of it is in memory
async function* inboundFrom(store: MemoryStore, number: Msisdn): AsyncIterable<StoredInbound> {
  const forms = formsOf(number)
  const found = store.inboundMessages.filter(({ from }) => forms.includes(from))
  yield* found.map(({ id, account, to, at, text }) => ({ id, account, to, at, text }))
}

function contactsOf({ chosenSenders, lastContacts }: MemoryStore, number: Msisdn): readonly StoredContact[] {
  const chosen = [...(chosenSenders.get(number) ?? [])].map(([account, address]) => ({ account, address }))
  const last = [...(lastContacts.get(number) ?? [])].map(([address, { account }]) => ({ account, address }))
  const all = new Map([...chosen, ...last].map((one) => [`${one.account} ${one.address}`, one]))
  return [...all.values()].sort((a, b) => a.account - b.account || (a.address < b.address ? -1 : 1))
}

function suppressionsOf(store: MemoryStore, number: Msisdn): readonly StoredSuppression[] {
  return [...store.suppressions]
    .flatMap(([scope, numbers]) => {
      const account = scope === 'everybody' ? undefined : scope
      const reply = account && store.optOutReplies.get(account)?.get(number)
      return [...(numbers.get(number) ?? [])].map(([kind, since]) => {
        const text = kind === 'opt-out' ? reply?.text : undefined
        return { account, kind, since, text }
      })
    })
    .sort((a, b) => (a.account ?? 0) - (b.account ?? 0) || kinds.indexOf(a.kind) - kinds.indexOf(b.kind))
}

/**
 * Functions that erase a number, one for each step. Each changes at most `stepMax` rows and returns how many it
 * changed.
 */
const erasers: Readonly<Record<ErasureStep['at'], (store: MemoryStore, number: Msisdn) => number>> = {
  messages: (store, number) => {
    const now = store.clock.now()
    const rows = [...store.messages.values()]
      .filter((row) => row.number === number && row.decision !== undefined)
      .filter(({ decision }) => decision && holdsUp({ place: { place: 'decided', ...decision } }, now) === undefined)
      .slice(0, stepMax)
    for (const row of rows) Object.assign(row, { number: erasedNumber, reference: undefined })
    for (const send of new Set(rows.map((row) => row.send))) {
      const ofSend = [...store.messages.values()].filter((row) => row.send === send)
      if (ofSend.every((row) => row.number === erasedNumber)) Object.assign(send, { body: { ...send.body, text: '' } })
    }
    return rows.length
  },
  inbound: (store, number) => {
    const forms = formsOf(number)
    const places = store.inboundMessages.flatMap(({ from }, at) => (forms.includes(from) ? [at] : [])).slice(0, stepMax)
    for (const at of places) {
      const row = store.inboundMessages[at]
      if (row === undefined) continue
      const consumption = row.taking ?? (`erased ${row.id}` as NonNullable<typeof row.taking>)
      store.inboundMessages[at] = { ...row, from: erasedNumber, text: '', taking: consumption }
    }
    for (const [key, { message }] of store.parts) if (forms.includes(message.from)) store.parts.delete(key)
    for (const replies of store.optOutReplies.values()) {
      const reply = replies.get(number)
      if (reply !== undefined) replies.set(number, { ...reply, text: '' })
    }
    return places.length
  },
  contacts: (store, number) => {
    const { length } = contactsOf(store, number)
    store.chosenSenders.delete(number)
    store.lastContacts.delete(number)
    for (const marks of store.conversations.values()) for (const form of formsOf(number)) marks.delete(form)
    forgetRowsOf(store, number)
    const hex = Array.from(number, (digit) => `3${digit}`).join('')
    store.unreadReceipts = store.unreadReceipts.filter(
      (one) => one.number !== number && !one.text.includes(number) && !one.pdu.includes(hex),
    )
    return length
  },
  events: (store, number) => {
    let changed = 0
    const erase = (events: readonly WebhookEvent[]): WebhookEvent[] | undefined => {
      const after = events.map((event) => withoutNumber(store, event, number))
      if (after.every((event, i) => event === events[i])) return undefined
      after.forEach((event, i) => {
        const before = events[i]
        const copyOf = before && store.copies.get(before)
        if (copyOf !== undefined) store.copies.set(event, copyOf)
      })
      changed += 1
      return after
    }
    eraseSmppData(store, number)
    for (const { waiting, lists } of store.webhooks.values()) {
      const after = erase(waiting)
      if (after !== undefined) waiting.splice(0, waiting.length, ...after)
      for (const list of lists.values()) Object.assign(list, { events: erase(list.events) ?? list.events })
    }
    return Math.min(changed, stepMax - 1)
  },
}

/** Ends the waiting parts of texts to a number, and erases the number from parts, receipts and replies. */
function eraseSmppData(store: MemoryStore, number: Msisdn): void {
  const parts = [...store.smppParts.values()].filter(({ part }) => part.number === number)
  end(
    store,
    parts.filter(({ state }) => state === 'waiting'),
    OUTCOME.expired,
  )
  for (const row of parts) row.part = { ...row.part, number: erasedNumber }
  for (const [id, row] of store.smppDeliveries) {
    const { delivery } = row
    if (delivery.kind === 'reply') {
      if (formsOf(number).includes(delivery.from)) store.smppDeliveries.delete(id)
    } else if (delivery.number === number) row.delivery = { ...delivery, number: erasedNumber }
  }
}

function withoutNumber(store: MemoryStore, event: WebhookEvent, number: Msisdn): WebhookEvent {
  const { data } = event
  const nothing = data.type === 'test' || data.text === undefined ? undefined : ''
  if ('from' in data && formsOf(number).includes(data.from))
    return { ...event, data: { ...data, from: erasedNumber, text: nothing } }
  if (!('number' in data) || data.number !== number) return event
  if (!('message' in data)) return { ...event, data: { ...data, number: erasedNumber, text: nothing } }
  const text = data.text && store.messages.get(data.message)?.send.body.text
  const { reference: _, ...rest } = data
  return { ...event, data: { ...rest, number: erasedNumber, text } }
}
