import { acceptInboundMessages, acceptReceipts, acceptUnread } from './dispatch/accept-deliveries.ts'
import { proofAgeSeconds } from './dispatch/decide-doubt.ts'
import { dispatcherDefaults } from './dispatch/dispatcher-settings.ts'
import { confirmationOf, defaultConfirmation } from './inbox/receive.ts'
import type { Body } from './messages/body.ts'
import { contactDaysDefault, dropHistory } from './messages/drop-history.ts'
import type { ProcessingPorts } from './ports.ts'
import { deliveryHoursDefault, settleDeliveries } from './smpp-customers/deliver.ts'
import type { DeliveryClaim } from './smpp-customers/smpp-deliveries.ts'
import { partsExpireSeconds } from './smpp-customers/smpp-parts.ts'
import { joinParts } from './smpp-customers/submit-part.ts'

/** Settings of an operator for incoming messages and for stored data. */
export interface ProcessingSettings {
  /** Body of the message that confirms an opt-out (ruling 1.21). */
  readonly confirmation: Body
  /**
   * Days for which the gateway remembers which account last sent to a number. This may be longer than the messages
   * themselves are stored (ruling 1.18).
   */
  readonly contactDays: number
  /** Hours for which SMPP customers are offered their receipts and replies (ruling 5.7). */
  readonly smppDeliveryHours: number
}

export const processingDefaults: ProcessingSettings = {
  confirmation: confirmationOf(defaultConfirmation),
  contactDays: contactDaysDefault,
  smppDeliveryHours: deliveryHoursDefault,
}

/** Maximum number of ranges that one call moves. If a call moved this number, the caller should call again at once. */
const rangesMax = 1000
const receiptsMax = 1000
const changesMax = 10_000
/**
 * Seconds after which a receipt without a message is adopted. A younger receipt may still find its message by itself.
 */
const adoptionAgeSeconds = 60

/** Seconds after its latest part after which an incomplete text is stored without the missing parts. */
const partsSeconds = 24 * 3600
const textsMax = 100

/** Maximum number of messages in doubt that one call ends. */
const doubtMax = 10_000

/** Use cases of background processes. Each call is one bounded step and returns how much it has done. */
export const createProcessing = (
  ports: ProcessingPorts,
  { confirmation, contactDays, smppDeliveryHours }: ProcessingSettings = processingDefaults,
) => ({
  /** Moves due messages from the schedule to the queue. Returns 'more' if more may be due. */
  promote: async (): Promise<'more' | 'all'> =>
    (await ports.claimedBatches.promote(rangesMax)) < rangesMax ? 'all' : 'more',
  /** Moves messages that wait in routes that are no longer published. Returns 'more' if more may wait. */
  reroute: async (): Promise<'more' | 'all'> => ((await ports.routes.reroute(rangesMax)) < rangesMax ? 'all' : 'more'),
  /** Takes over the batches of dead dispatchers (P-5, P-6). */
  recover: (): Promise<{ readonly requeued: number; readonly unknown: number }> => ports.claimedBatches.recover(),
  /** Ends messages that waited beyond their validity (ruling 1.13). */
  expire: (validitySeconds = dispatcherDefaults.validitySeconds): Promise<number> =>
    ports.claimedBatches.expire(validitySeconds, rangesMax),
  /** Ends messages that were in doubt beyond their validity as SENT 106 (P-4). Returns their number. */
  expireDoubt: (validitySeconds = dispatcherDefaults.validitySeconds): Promise<number> =>
    ports.promotions.expire(validitySeconds, doubtMax),
  /** Ends messages in doubt as SENT 106 if late receipts prove that they were submitted (P-5). Returns their number. */
  takeProofs: (): Promise<number> => ports.promotions.takeProofs(proofAgeSeconds),
  acceptReceipts: acceptReceipts(ports),
  acceptInboundMessages: acceptInboundMessages(ports, confirmation),
  acceptUnread: acceptUnread(ports),
  /** Stores texts whose parts have been missing for 24 hours. Returns 'more' if there may be more of them. */
  releaseParts: async (): Promise<'more' | 'all'> =>
    (await ports.inbox.releaseParts(partsSeconds, textsMax, confirmation)) < textsMax ? 'all' : 'more',
  /**
   * Searches again for the messages to which unmatched receipts belong. Returns 'more' if more receipts may be left.
   */
  matchReceipts: async (): Promise<'more' | 'all'> =>
    (await ports.deliveryReceipts.match(receiptsMax)) < receiptsMax ? 'all' : 'more',
  /** Finds the messages of unknown outcome to which stored receipts belong (ruling 1.17). */
  adoptReceipts: (): Promise<number> => ports.deliveryReceipts.adopt(adoptionAgeSeconds),
  /** Adds recorded changes to the daily sums. Returns 'more' if more changes may be left. */
  foldDailySums: async (): Promise<'more' | 'all'> =>
    (await ports.dailySums.fold(changesMax)) < changesMax ? 'all' : 'more',
  /** Joins whole texts that customers submitted in parts over SMPP and that no process has joined (ruling 5.2). */
  joinParts: joinParts(ports),
  /** Ends SMPP texts whose other parts did not come (ruling 5.2). Returns 'more' if there may be more of them. */
  expireParts: async (): Promise<'more' | 'all'> =>
    (await ports.smppParts.expire(partsExpireSeconds, textsMax)) < textsMax ? 'all' : 'more',
  /** Claims receipts and replies for the receiving binds of a process of the SMPP server. */
  claimDeliveries: (claim: DeliveryClaim) => ports.smppDeliveries.claim(claim),
  settleDeliveries: settleDeliveries(ports),
  /** Drops receipts and replies that SMPP customers did not acknowledge in time. Returns 'more' if more may be left. */
  dropDeliveries: async (): Promise<'more' | 'all'> =>
    (await ports.smppDeliveries.drop(smppDeliveryHours, receiptsMax)) < receiptsMax ? 'all' : 'more',
  /** Deletes data older than 90 days (spec 8). */
  purge: dropHistory(ports, contactDays),
})

export type Processing = ReturnType<typeof createProcessing>
