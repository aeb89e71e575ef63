import type { CoveredElsewhere } from '../case.ts'

/** Promises that a client of the gateway can neither trigger nor observe. */
export const coveredElsewhere: readonly CoveredElsewhere[] = [
  {
    of: 'spec 3',
    promise: 'codes that need an operator, a slow carrier or 90 days',
    by: 'packages/core/src/messages/message-facts.test.ts',
  },
  {
    of: 'spec 6',
    promise: 'replies and delivery reports reach a webhook',
    by: 'tests/webhooks.test.ts',
  },
  {
    of: 'spec 7.1',
    promise: '500 where a key cannot be checked',
    by: 'tests/database-gone.test.ts',
  },
  {
    of: 'spec 8',
    promise: 'status goes back 90 days',
    by: 'apps/rest/src/endpoints/sms/outgoing/status.test.ts',
  },
  {
    of: 'spec 8',
    promise: 'replies and code messages go back 90 days',
    by: 'apps/rest/src/endpoints/sms/incoming.test.ts',
  },
  {
    of: '1.1',
    promise: 'the zone of the process changes no time',
    by: 'packages/core/src/time/gateway-time.test.ts',
  },
  {
    of: '1.4',
    promise: 'a number without a row of the price table is BADDEST',
    by: 'packages/core/src/credits/prices.test.ts',
  },
  {
    of: '1.7',
    promise: 'the text is sent without a substitute for any character',
    by: 'packages/core/src/messages/body.test.ts',
  },
  {
    of: '1.8',
    promise: 'the lengths of every country',
    by: 'packages/core/src/messages/msisdn.test.ts',
  },
  {
    of: '1.10',
    promise: 'a number that is refused for several reasons at once',
    by: 'packages/core/src/messages/send-messages.test.ts',
  },
  {
    of: '1.11',
    promise: 'parallel calls never spend more than there is',
    by: 'tests/last-credits.test.ts',
  },
  {
    of: '1.13',
    promise: 'screening again when a message is claimed',
    by: 'packages/core/src/dispatch/dispatcher.test.ts',
  },
  {
    of: '1.14',
    promise: 'a locked account deletes its scheduled messages, and is refunded',
    by: 'apps/asp/src/endpoints/deletescheduled.test.ts',
  },
  {
    of: '1.15',
    promise: 'deletions that race with dispatchers',
    by: 'tests/races.test.ts',
  },
  {
    of: '1.16',
    promise: 'age counts from the due time, and a waiting message is never too old',
    by: 'packages/core/src/messages/follow-messages.test.ts',
  },
  {
    of: '1.17',
    promise: 'a message that a carrier may have accepted is not sent again',
    by: 'tests/unknown-outcomes.test.ts',
  },
  {
    of: '1.18',
    promise: 'two senders to one number, replies without an owner, dropped history',
    by: 'tests/replies.test.ts',
  },
  {
    of: '1.20',
    promise: 'interrupted answers, and many concurrent clients',
    by: 'tests/return-once.test.ts',
  },
  {
    of: '1.21',
    promise: 'the text of the confirmation, and that it is sent once',
    by: 'tests/replies.test.ts',
  },
  {
    of: '1.22',
    promise: 'the account holder removes an entry',
    by: 'tests/replies.test.ts',
  },
  {
    of: '1.23',
    promise: 'a manual opt-out is not confirmed',
    by: 'packages/core/testing/contracts/inbox/opting-out.ts',
  },
  {
    of: '1.24',
    promise: 'keys are kept for 48 h, and survive kills between the work and its answer',
    by: 'tests/retries.test.ts',
  },
  {
    of: '1.25',
    promise: 'the answers while the database is unavailable',
    by: 'tests/database-gone.test.ts',
  },
  {
    of: '1.25',
    promise: '503 with Retry-After under overload',
    by: 'tests/overload.test.ts',
  },
  {
    of: '1.26',
    promise: 'other networks are not affected',
    by: 'packages/adapters-node/src/failed-logins.test.ts',
  },
  {
    of: '1.26',
    promise: 'the processes of a deployment count failures together',
    by: 'packages/core/testing/contracts/account-rates.ts',
  },
  {
    of: '1.32',
    promise: 'codings, shift tables and joined parts of the text of a person',
    by: 'packages/adapters-smpp/src/inbound/offered.test.ts',
  },
  {
    of: '3.2',
    promise: 'opt-outs break off if the database fails in the middle',
    by: 'apps/asp/src/endpoints/listoptouts.test.ts',
  },
  {
    of: '3.7',
    promise: 'Fail, and the answer if it is unknown whether credits moved',
    by: 'apps/asp/src/endpoints/creditstransfer.test.ts',
  },
  {
    of: '5.2',
    promise: 'parts that never become a text',
    by: 'packages/core/testing/contracts/smpp-parts.ts',
  },
  {
    of: '5.5',
    promise: 'answers to binds while the database is away, over the maximum, and after failed binds',
    by: 'apps/smpp/src/smpp-server.test.ts',
  },
  {
    of: '5.7',
    promise: 'receipts and replies that wait for a customer over SMPP',
    by: 'packages/core/testing/contracts/smpp-deliveries.ts',
  },
  {
    of: '6.1',
    promise: 'answers to callbacks of carriers',
    by: 'apps/callbacks/src/router.test.ts',
  },
  {
    of: '6.2',
    promise: 'opt-outs at a provider',
    by: 'packages/core/testing/contracts/delivery-receipts/opt-outs.ts',
  },
  {
    of: '6.3',
    promise: 'prices of providers',
    by: 'packages/core/testing/contracts/delivery-receipts/prices.ts',
  },
  {
    of: 'C1',
    promise: 'a webhook is added, shown, changed, rotated, tested, replayed and removed',
    by: 'apps/rest/src/endpoints/webhooks.test.ts',
  },
]
