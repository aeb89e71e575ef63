import type { AccountId } from '@gateway/core/accounts'
import { INCIDENT, isAcceptedByCarrier, type MessageId } from '@gateway/core/messages'
import {
  receiptFor,
  type SmppCredentialId,
  type SmppDeliveries,
  type SmppDelivery,
  type SmppDeliveryId,
  type SmppOptions,
  type SmppReceipt,
  type SmppReceiver,
  type SmppReply,
} from '@gateway/core/smpp-customers'
import { secondsAfter } from '@gateway/core/time'
import { atomic } from './atomic.ts'
import { note } from './incidents.ts'
import type { InboundMessageRow, MessageRow, SmppDeliveryRow } from './rows.ts'
import { liveBinds, receives } from './smpp-credentials.ts'
import type { MemoryStore } from './store.ts'

/** Stores the receipts of a changed message, one for each part that requested it. */
export function storeReceipts(store: MemoryStore, { id, from, number, send, decision }: MessageRow): void {
  const { smpp } = send.options
  if (smpp === undefined || decision === undefined) return
  const { code, at } = decision
  const isAccepted = isAcceptedByCarrier({ code, hasReference: decision.reference !== undefined })
  for (const { id: message, receipts } of smpp.parts ?? [{ id, receipts: smpp.receipts }])
    storeReceipt(store, send.account, {
      ...{ message, receipts, number, from, smpp, code, isAccepted, at },
      submitted: store.smppParts.get(message)?.at ?? send.submitted,
      notedOn: id,
    })
}

interface NewReceipt extends Omit<SmppReceipt, 'kind'> {
  readonly receipts: number | undefined
  readonly notedOn: MessageId | undefined
}

/** Stores a receipt for a message or a part, if its registered_delivery requests one for this outcome. */
export function storeReceipt(
  store: MemoryStore,
  account: AccountId,
  { receipts = 0, notedOn, ...receipt }: NewReceipt,
): void {
  const kind = receiptFor(receipts, receipt.code)
  const smpp: SmppOptions = { ...receipt.smpp, receipts, parts: undefined }
  if (kind !== undefined && store.repliesBy.has(account))
    add(store, account, { ...receipt, smpp, kind }, receipt.smpp.credential, notedOn)
}

export function storeReply(store: MemoryStore, account: AccountId, row: InboundMessageRow): void {
  const { id, from, to, text, at, answers } = row
  const credential = answers === undefined ? undefined : store.messages.get(answers)?.send.options.smpp?.credential
  add(store, account, { kind: 'reply', inbound: id, from, to, text, at }, credential, answers)
}

function add(
  store: MemoryStore,
  account: AccountId,
  content: SmppReceipt | SmppReply,
  credential: SmppCredentialId | undefined,
  notedOn: MessageId | undefined,
): void {
  const id = store.next('smpp-delivery') as SmppDeliveryId
  const stored = store.clock.now()
  const delivery: SmppDelivery = { ...content, id, account, credential, tries: 0 }
  store.smppDeliveries.set(id, { delivery, stored, notedOn, due: stored, process: undefined })
}

export const memorySmppDeliveries = (store: MemoryStore): SmppDeliveries => ({
  claim: atomic(({ process, receivers, leaseSeconds }) => {
    const now = store.clock.now()
    return receivers.flatMap((receiver) =>
      claimable(store, receiver)
        .slice(0, receiver.room)
        .map((row) => {
          row.delivery = { ...row.delivery, tries: row.delivery.tries + 1 }
          row.process = process
          row.due = secondsAfter(now, leaseSeconds)
          return row.delivery
        }),
    )
  }),
  settle: atomic((process, results) => {
    for (const { id, tries, verdict, pauseSeconds } of results) {
      const row = store.smppDeliveries.get(id)
      if (row?.process !== process || row.delivery.tries !== tries) continue
      if (verdict === 'refused' && row.notedOn !== undefined) note(store, row.notedOn, INCIDENT.deliveryRefused)
      if (verdict === 'delivered' || verdict === 'refused') store.smppDeliveries.delete(id)
      row.process = undefined
      row.due = secondsAfter(store.clock.now(), verdict === 'retry' ? pauseSeconds : 0)
      if (verdict === 'unsent') row.delivery = { ...row.delivery, tries: tries - 1 }
    }
  }),
  drop: atomic((hours, rowsMax) => {
    const before = secondsAfter(store.clock.now(), -3600 * hours)
    const old = [...store.smppDeliveries].filter(([, { stored }]) => stored < before).slice(0, rowsMax)
    for (const [id, { notedOn }] of old) {
      store.smppDeliveries.delete(id)
      if (notedOn !== undefined) note(store, notedOn, INCIDENT.deliveryDropped)
    }
    return old.length
  }),
  waiting: atomic((account) => {
    const rows = [...store.smppDeliveries.values()].filter(
      ({ delivery }) => account === undefined || delivery.account === account,
    )
    const replies = rows.filter(({ delivery }) => delivery.kind === 'reply').length
    return { receipts: rows.length - replies, replies, oldest: rows[0]?.stored }
  }),
})

/**
 * Returns the deliveries that a receiver may claim now, oldest first. Among deliveries for the same id, only the first
 * may be claimed.
 */
function claimable(store: MemoryStore, { account, credential }: SmppReceiver): readonly SmppDeliveryRow[] {
  const bound = new Set(liveBinds(store).flatMap((row) => (receives(row.bind.mode) ? [row.credential] : [])))
  const seen = new Set<string>()
  return [...store.smppDeliveries.values()].filter(({ delivery, due }) => {
    const subject = subjectOf(delivery)
    const isFirst = !seen.has(subject)
    seen.add(subject)
    const { credential: submitter } = delivery
    const isMeant = submitter === undefined || submitter === credential || !bound.has(submitter)
    return delivery.account === account && isMeant && isFirst && due <= store.clock.now()
  })
}

const subjectOf = (delivery: SmppDelivery): string =>
  delivery.kind === 'reply' ? `reply ${delivery.inbound}` : `message ${delivery.message}`
