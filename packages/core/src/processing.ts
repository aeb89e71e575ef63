import { acceptInboundMessages, acceptReceipts, acceptUnread } from './dispatch/accept-deliveries.ts'
import { proofAgeSeconds } from './dispatch/decide-doubt.ts'
import { dispatcherDefaults } from './dispatch/dispatcher-settings.ts'
import { confirmationOf, defaultConfirmation } from './inbox/receive.ts'
import type { Body } from './messages/body.ts'
import { contactDaysDefault, dropHistory } from './messages/drop-history.ts'
import type { Ports } from './ports.ts'

/** What an operator may set for what arrives and what is kept. */
export interface ProcessingSettings {
  /** What confirms an opt-out (ruling 1.21). */
  readonly confirmation: Body
  /** Days for which it is remembered who wrote last to a number whose history is gone (ruling 1.18). */
  readonly contactDays: number
}

export const processingDefaults: ProcessingSettings = {
  confirmation: confirmationOf(defaultConfirmation),
  contactDays: contactDaysDefault,
}

/** Ranges that one call moves at the most; the caller goes on at once when a call was full. */
const rangesMax = 1000
const receiptsMax = 1000
const changesMax = 10_000
/** Younger receipts may yet find their message by themselves. */
const adoptionAgeSeconds = 60

/** A text whose last part came so long ago is stored without those that are missing. */
const partsSeconds = 24 * 3600
const textsMax = 100

/** Messages in doubt that one call ends. */
const doubtMax = 10_000

/** What the clock and the carriers do. Each call is one bounded step; it returns how much it moved. */
export const createProcessing = (
  ports: Pick<
    Ports,
    | 'claimedBatches'
    | 'promotions'
    | 'routes'
    | 'deliveryReceipts'
    | 'unreadReceipts'
    | 'inbox'
    | 'history'
    | 'dailySums'
  >,
  { confirmation, contactDays }: ProcessingSettings = processingDefaults,
) => ({
  /** Moves what has become due from the schedule to the queue; 'more': there may be more at once. */
  promote: async (): Promise<'more' | 'all'> =>
    (await ports.claimedBatches.promote(rangesMax)) < rangesMax ? 'all' : 'more',
  /** Moves what waits in routes that are no longer published; 'more': there may be more at once. */
  reroute: async (): Promise<'more' | 'all'> => ((await ports.routes.reroute(rangesMax)) < rangesMax ? 'all' : 'more'),
  /** Takes over what dead dispatchers left (P-5, P-6). */
  recover: (): Promise<{ readonly requeued: number; readonly unknown: number }> => ports.claimedBatches.recover(),
  /** Ends messages that waited beyond their validity (ruling 1.13). */
  expire: (validitySeconds = dispatcherDefaults.validitySeconds): Promise<number> =>
    ports.claimedBatches.expire(validitySeconds, rangesMax),
  /** Ends messages that were in doubt beyond their validity as SENT 106 (P-4). Returns how many. */
  expireDoubt: (validitySeconds = dispatcherDefaults.validitySeconds): Promise<number> =>
    ports.promotions.expire(validitySeconds, doubtMax),
  /** Takes what late receipts prove of messages in doubt (P-5). Returns how many were submitted. */
  takeProofs: (): Promise<number> => ports.promotions.takeProofs(proofAgeSeconds),
  acceptReceipts: acceptReceipts(ports),
  acceptInboundMessages: acceptInboundMessages(ports, confirmation),
  acceptUnread: acceptUnread(ports),
  /** Stores texts of which parts are missing for 24 hours; 'more': there may be more at once. */
  releaseParts: async (): Promise<'more' | 'all'> =>
    (await ports.inbox.releaseParts(partsSeconds, textsMax, confirmation)) < textsMax ? 'all' : 'more',
  /** Looks again for the messages of receipts that found none. */
  matchReceipts: async (): Promise<'more' | 'all'> =>
    (await ports.deliveryReceipts.match(receiptsMax)) < receiptsMax ? 'all' : 'more',
  /** Finds the messages of unknown outcome that kept receipts speak of (ruling 1.17). */
  adoptReceipts: (): Promise<number> => ports.deliveryReceipts.adopt(adoptionAgeSeconds),
  /** Adds up what has changed in the daily sums; 'more': there may be more at once. */
  foldDailySums: async (): Promise<'more' | 'all'> =>
    (await ports.dailySums.fold(changesMax)) < changesMax ? 'all' : 'more',
  /** Drops what is older than 90 days (spec 8). */
  purge: dropHistory(ports, contactDays),
})

export type Processing = ReturnType<typeof createProcessing>
