import type { Migration } from '../migration.ts'
import { addPartition } from './functions/add-partition.ts'
import { adoptDeliveryReceipts } from './functions/adopt-delivery-receipts.ts'
import { claimWebhookLists } from './functions/claim-webhook-lists.ts'
import { chooseSender } from './functions/choose-sender.ts'
import { deleteWaiting } from './functions/delete-waiting.ts'
import { disown } from './functions/disown.ts'
import { dropBlock } from './functions/drop-block.ts'
import { dropHistory } from './functions/drop-history.ts'
import { dropInboundMessages } from './functions/drop-inbound-messages.ts'
import { dropPartition } from './functions/drop-partition.ts'
import { keepContacts } from './functions/keep-contacts.ts'
import { keysInUse } from './functions/keys-in-use.ts'
import { leaseBlock } from './functions/lease-block.ts'
import { leaseShared } from './functions/lease-shared.ts'
import { listScheduled } from './functions/list-scheduled.ts'
import { purgeWebhooks } from './functions/purge-webhooks.ts'
import { receiveInboundMessages } from './functions/receive-inbound-messages.ts'
import { recover } from './functions/recover.ts'
import { releaseClaimedBatches } from './functions/release-claimed-batches.ts'
import { reopenWebhookLists } from './functions/reopen-webhook-lists.ts'
import { retire } from './functions/retire.ts'
import { transferCredits } from './functions/transfer-credits.ts'
import { webhookTotals } from './functions/webhook-totals.ts'
import { accounts } from './tables/accounts.ts'
import { carriers } from './tables/carriers.ts'
import { clientRequests } from './tables/client-requests.ts'
import { credits } from './tables/credits.ts'
import { deliveryReceipts } from './tables/delivery-receipts.ts'
import { dispatchers } from './tables/dispatchers.ts'
import { erasures } from './tables/erasures.ts'
import { inboundMessages } from './tables/inbound-messages.ts'
import { messages } from './tables/messages.ts'
import { routes } from './tables/routes.ts'
import { senders } from './tables/senders.ts'
import { suppressions } from './tables/suppressions.ts'
import { waiting } from './tables/waiting.ts'
import { webhooks } from './tables/webhooks.ts'

const tables = [
  accounts,
  credits,
  senders,
  suppressions,
  routes,
  messages,
  waiting,
  clientRequests,
  dispatchers,
  carriers,
  deliveryReceipts,
  inboundMessages,
  webhooks,
  erasures,
]

const functions = [
  ...[addPartition, leaseBlock, leaseShared],
  ...[releaseClaimedBatches, recover, retire, disown],
  ...[listScheduled, deleteWaiting, keysInUse, transferCredits, chooseSender],
  ...[adoptDeliveryReceipts, receiveInboundMessages],
  ...[reopenWebhookLists, claimWebhookLists, purgeWebhooks, webhookTotals],
  ...[keepContacts, dropPartition, dropBlock, dropInboundMessages, dropHistory],
]

const firstPartitions = 'select add_partition(k) from generate_series(0, 2) k;'

/** The whole schema as of the first release. Each function says in SQL what it does, since it is read in the database too. */
export const baseline: Migration = {
  version: 1,
  name: 'baseline',
  sql: [...tables, ...functions, firstPartitions].join('\n'),
}
