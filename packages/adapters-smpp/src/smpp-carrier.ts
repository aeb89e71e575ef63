import { setImmediate as nextTurn } from 'node:timers'
import {
  carrierId,
  type Carrier,
  type CarrierBinds,
  type CarrierHandlers,
  type CarrierStatus,
  type CarrierId,
} from '@gateway/core'
import { createOffers } from './inbound/offers.ts'
import { readInboundMessage } from './inbound/read-inbound-message.ts'
import { COMMAND_STATUS } from './pdu/index.ts'
import { isReceipt, readReceipt, type CarrierReceipt } from './receipts/read-receipt.ts'
import { createReceiptMatcher, type ReceiptMatcher } from './receipts/receipt-matcher.ts'
import { alwaysPermitted } from './session/bind-permit.ts'
import { createLink, type Link } from './session/link.ts'
import { createPace } from './session/pace.ts'
import type { AnswerDelivered, Delivered, Role, Session } from './session/session.ts'
import { shareBinds, type SharedBinds } from './session/shared-binds.ts'
import type { SmppSettings } from './settings.ts'
import { createOutbox } from './submissions/outbox.ts'
import { messageReferences } from './text/message-references.ts'

export interface SmppCarrier extends Carrier {
  readonly status: () => CarrierStatus
}

/** Where processes share the binds of a carrier that has `bindsMax`. */
export interface Sharing {
  readonly binds: CarrierBinds
  readonly leaseSeconds: number
}

interface Arrival<Item> {
  readonly item: Item
  readonly answer: AnswerDelivered
}

/**
 * So many windows of messages are taken at a time. With one, claims and outcomes of 50 messages a commit took 69 µs of PostgreSQL
 * and 49 of the dispatcher a message; with four, 45 and 31.
 */
const windowsTaken = 4

/** A carrier over SMPP 3.4. It connects once it is listened to, and again whenever a connection ends. Throws if `id` is no name. */
export function smppCarrier(
  id: string,
  settings: SmppSettings,
  report: (problem: unknown) => void,
  sharing?: Sharing,
): SmppCarrier {
  const name = nameOf(id)
  const { bindsMax } = settings
  if (bindsMax !== undefined && sharing === undefined) throw new Error(`carrier ${name}: bindsMax needs a store`)
  const pace = createPace(settings.perSecond)
  const offers = createOffers()
  let links: readonly Link[] = []
  let sessions: readonly Session[] = []
  let shared: SharedBinds | undefined
  let handlers: CarrierHandlers | undefined
  let matcher: ReceiptMatcher | undefined
  let lastError: string | undefined
  let unreadable = 0
  let receipts: Arrival<CarrierReceipt>[] = []
  let messages: (Arrival<Delivered> & { readonly pdu: Delivered })[] = []
  let gathering: NodeJS.Immediate | undefined

  const tell = (what: string): void => {
    lastError = what
    report(new Error(`carrier ${name}: ${what}`))
  }
  const outbox = createOutbox(
    settings,
    () => sessions,
    pace,
    messageReferences(),
    (why) => void (lastError = why),
  )

  function changed(): void {
    sessions = links.flatMap((link) => link.session() ?? [])
    outbox.pump()
  }

  function delivered(pdu: Delivered, answer: AnswerDelivered): void {
    if (isReceipt(pdu)) {
      const receipt = readReceipt(pdu, settings)
      if (receipt === 'unreadable') drop('a receipt', answer)
      else receipts.push({ item: receipt, answer })
    } else messages.push({ item: pdu, pdu, answer })
    gathering ??= nextTurn(offer)
  }

  /** What nobody can read would come for ever if it were refused. */
  function drop(what: string, answer: AnswerDelivered): void {
    unreadable++
    tell(`${what} cannot be read and is dropped`)
    answer(COMMAND_STATUS.ESME_ROK)
  }

  function offer(): void {
    gathering = undefined
    const [receiptsNow, messagesNow] = [receipts, messages]
    receipts = []
    messages = []
    if (receiptsNow.length > 0) void acknowledge(receiptsNow, () => matcher?.take(receiptsNow.map(({ item }) => item)))
    if (messagesNow.length > 0) offerMessages(messagesNow)
  }

  function offerMessages(arrivals: typeof messages): void {
    const read = arrivals.flatMap((arrival) => {
      const message = readInboundMessage(arrival.pdu, name, settings, offers.of)
      if (message !== 'binary') return [{ ...arrival, item: message }]
      drop('a binary message', arrival.answer)
      return []
    })
    if (read.length === 0) return
    const done = acknowledge(read, () => handlers?.inboundMessages(read.map(({ item }) => item)))
    void done.then((isStored) => {
      if (isStored) for (const { item } of read) offers.acknowledged(item.offer ?? '')
    })
  }

  /** Only what is committed is acknowledged; the carrier offers the rest again (P-7). */
  async function acknowledge(
    arrivals: readonly Arrival<unknown>[],
    store: () => Promise<unknown> | undefined,
  ): Promise<boolean> {
    let isStored = false
    try {
      await store()
      isStored = true
    } catch {
      // The handler has logged why.
    }
    for (const { answer } of arrivals) answer(isStored ? COMMAND_STATUS.ESME_ROK : COMMAND_STATUS.ESME_RX_T_APPN)
    return isStored
  }

  function listen(to: CarrierHandlers): void {
    handlers = to
    matcher = createReceiptMatcher(name, settings.receiptId, (some) => to.receipts(some), {
      adopted: (form, before) =>
        tell(`its receipts fit in the form ${form} (before: ${before ?? 'unknown'}); receiptId=${form} keeps it`),
      failed: report,
    })
    if (bindsMax !== undefined && sharing !== undefined)
      shared = shareBinds({ carrier: name, bindsMax, tell, ...sharing })
    links = Array.from({ length: settings.binds }, () => shared?.permit() ?? alwaysPermitted).flatMap((permit) =>
      rolesOf(settings).map((role) => createLink(settings, role, { changed, delivered, lost: tell }, permit)),
    )
  }

  return {
    id: name,
    window: settings.window * settings.binds,
    takenMax: windowsTaken * settings.window * settings.binds,
    listen,
    submit: (some, answered) => outbox.submit(some, answered),
    async close(deadline) {
      outbox.shut()
      await Promise.race([outbox.quiet(), deadline])
      outbox.abandon()
      await Promise.race([Promise.all(links.map((link) => link.close())), deadline])
      for (const link of links) link.destroy()
      await Promise.race([shared?.stop(), deadline])
      matcher?.stop()
      await outbox.quiet()
      outbox.stop()
    },
    status: () => ({
      links: links.map((link) => link.status()),
      ...pace.state(performance.now()),
      waiting: outbox.waiting(),
      lastError,
      receipts: matcher?.counts() ?? { received: 0, missed: 0, form: settings.receiptId },
      unreadable,
    }),
  }
}

const rolesOf = ({ bind }: SmppSettings): readonly Role[] =>
  bind === 'transceiver' ? ['transceiver'] : ['transmitter', 'receiver']

function nameOf(text: string): CarrierId {
  const id = carrierId(text)
  if (id === undefined) throw new Error(`${JSON.stringify(text)} is no name of a carrier: 1 to 32 of a-z, 0-9 and '-'`)
  return id
}
