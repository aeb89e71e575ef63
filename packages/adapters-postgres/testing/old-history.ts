import type { Client } from 'pg'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { ClaimedMessage, Handover, Lane } from '@gateway/core/dispatch'
import type { MessageId, Order } from '@gateway/core/messages'
import { aCarrierId } from '@gateway/core/testing'

export const testCarrier = aCarrierId('sim')

/** Accepts an order that is paid in full, and returns its ids. */
export async function acceptedIds({ messages }: StoredPorts, order: Order): Promise<readonly MessageId[]> {
  const acceptance = await messages.accept(order)
  if (typeof acceptance === 'string') throw new Error(acceptance)
  return acceptance.results.flat().map((id) => {
    if (id === 'insufficient-credits') throw new Error(id)
    return id
  })
}

/** Submits every due message to a carrier, and records the result that `handover` returns for it. */
export async function dispatchAll(
  { claimedBatches }: StoredPorts,
  handover: (message: ClaimedMessage) => Handover = ({ id }) => ({ outcome: 'accepted', reference: `r${id}` }),
): Promise<void> {
  const dispatcher = await claimedBatches.register(600)
  const lanes: readonly Lane[] = ['single', 'bulk']
  for (const lane of lanes) {
    for (;;) {
      const request = { carrier: testCarrier, lane, messagesMax: 1000, markedMax: 1000, leaseSeconds: 600 }
      const batch = await claimedBatches.claim(dispatcher, request)
      if (typeof batch === 'string') break
      await claimedBatches.mark(dispatcher, batch.id, batch.messages.length)
      const outcomes = batch.messages.map((message) => ({ batch: batch.id, message, handover: handover(message) }))
      await claimedBatches.record(dispatcher, outcomes)
    }
  }
  await claimedBatches.retire(dispatcher)
}

/** Moves all stored times back, because the clock of the store cannot be set. */
export async function letDaysPass(client: Client, days: number): Promise<void> {
  const columns = {
    send: ['created_at', 'scheduled_at'],
    message: ['sent_at', 'code_at'],
    message_part: ['sent_at', 'code_at'],
    id_lease: ['at'],
    id_share: ['at'],
    later: ['due_at', 'at'],
    due: ['due_at'],
    ledger: ['at'],
    incident: ['at'],
    unmatched_delivery_receipt: ['at'],
    unread_delivery_receipt: ['at'],
    unknown_reference: ['at'],
    last_contact: ['at'],
    inbound_message: ['at'],
    inbound_message_offered: ['at'],
    inbound_message_taken: ['at'],
    inbound_message_seen: ['at'],
    inbound_message_parts: ['last'],
    chosen_sender: ['since'],
    suppression: ['since'],
    opt_out_reply: ['since'],
  }
  await client.query('begin')
  for (const [table, names] of Object.entries(columns)) {
    const sets = names.map((name) => `${name} = ${name} - ${days} * interval '1 day'`)
    await client.query(`update ${table} set ${sets.join(', ')}`)
  }
  await client.query('commit')
}

/** Stores a send that a carrier accepted `daysAgo`, with its debit. */
export async function storeSend(client: Client, account: AccountId, firstId: number, daysAgo: number, count = 1) {
  await client.query('begin')
  await client.query('update account set balance = balance - $2::int * 10 where id = $1', [account, count])
  await client.query(
    `insert into send (first_id, created_at, n, account_id, price, body, msisdns)
     select $2, now() - $4::int * interval '1 day', $3::int, $1, 10, 'x', array(select 27820000000 + i from generate_series(1, $3::int) i)`,
    [account, firstId, count, daysAgo],
  )
  await client.query(
    `insert into message (id, send_first_id, msisdn, account_id, code, carrier_id, sent_at)
     select $2::bigint + i - 1, $2, 27820000000 + i, $1, 0, 'p' || ($2::bigint + i - 1), now() - $4::int * interval '1 day' from generate_series(1, $3::int) i`,
    [account, firstId, count, daysAgo],
  )
  await client.query('commit')
}
