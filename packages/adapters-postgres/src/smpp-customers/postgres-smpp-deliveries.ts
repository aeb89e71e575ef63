import type { InboundMessageId } from '@gateway/core/inbox'
import type { MessageId } from '@gateway/core/messages'
import type { SmppDeliveries, SmppDelivery, SmppReceipt, SmppReply } from '@gateway/core/smpp-customers'
import type { Context } from '../context.ts'
import { claimDeliveries, dropDeliveries, settleDeliveries, waitingDeliveries } from '../sql/smpp-deliveries.ts'
import type { RowOf } from '../sql/statement.ts'
import { DELIVERY_KIND } from '../stored-codes.ts'

export const postgresSmppDeliveries = ({ pools: { hot, ordinary } }: Context): SmppDeliveries => ({
  claim: async ({ process, receivers, leaseSeconds }) => {
    if (receivers.length === 0) return []
    const rows = await hot.run(claimDeliveries, {
      process,
      accounts: receivers.map(({ account }) => account),
      credentials: receivers.map(({ credential }) => credential),
      rooms: receivers.map(({ room }) => room),
      leaseSeconds,
    })
    return rows.flatMap(deliveryOf)
  },
  settle: async (process, results) => {
    if (results.length === 0) return
    const isVerdict = (verdict: string) => results.map((result) => result.verdict === verdict)
    await hot.run(settleDeliveries, {
      process,
      ids: results.map(({ id }) => id),
      tries: results.map(({ tries }) => tries),
      isOver: results.map(({ verdict }) => verdict === 'delivered' || verdict === 'refused'),
      isRefused: isVerdict('refused'),
      isUnsent: isVerdict('unsent'),
      pauseSeconds: results.map(({ verdict, pauseSeconds }) => (verdict === 'retry' ? pauseSeconds : 0)),
    })
  },
  drop: async (hours, rowsMax) => (await ordinary.run(dropDeliveries, { hours, rowsMax }))[0]?.dropped ?? 0,
  waiting: async (account) => {
    const [row] = await ordinary.run(waitingDeliveries, { account })
    return { receipts: row?.receipts ?? 0, replies: row?.replies ?? 0, oldest: row?.oldest ?? undefined }
  },
})

/** Returns no delivery for a receipt whose message is no longer stored; it is dropped in time. */
function deliveryOf(row: RowOf<typeof claimDeliveries>): readonly SmppDelivery[] {
  const { id, account, credential, tries } = row
  const content = row.kind === DELIVERY_KIND.reply ? replyOf(row) : receiptOf(row)
  return content === undefined ? [] : [{ ...content, id, account, credential: credential ?? undefined, tries }]
}

/** Returns a reply. Its text is empty if the message of the person has been deleted meanwhile. */
const replyOf = ({ subject, inbound, at }: RowOf<typeof claimDeliveries>): SmppReply => ({
  kind: 'reply',
  inbound: subject as InboundMessageId,
  from: inbound?.from ?? '',
  to: inbound?.to ?? undefined,
  text: inbound?.text ?? '',
  at,
})

function receiptOf(row: RowOf<typeof claimDeliveries>): SmppReceipt | undefined {
  const { kind, subject, number, code, isAccepted, receipts, at, from, smpp, submitted } = row
  if (number === null || code === null || smpp === null || submitted === null) return undefined
  return {
    kind: kind === DELIVERY_KIND.receipt ? 'receipt' : 'notification',
    message: subject as MessageId,
    ...{ number, code, at, submitted },
    from: from ?? undefined,
    smpp: { ...smpp, receipts: receipts ?? 0, parts: undefined },
    isAccepted,
  }
}
