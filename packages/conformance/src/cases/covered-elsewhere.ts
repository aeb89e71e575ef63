import type { CoveredElsewhere } from '../case.ts'

/** Promises that a client of the gateway can neither trigger nor observe. */
export const coveredElsewhere: readonly CoveredElsewhere[] = [
  {
    of: 'spec 3',
    what: 'codes that need an operator, a slow carrier or 90 days',
    by: 'packages/core/src/messages/message-facts.test.ts',
  },
  {
    of: 'spec 6',
    what: 'replies and delivery reports reach a webhook',
    by: 'tests/webhooks.test.ts',
  },
  {
    of: 'spec 7.1',
    what: '500 where a key cannot be checked',
    by: 'tests/database-gone.test.ts',
  },
  {
    of: 'spec 8',
    what: 'status goes back 90 days',
    by: 'apps/rest/src/endpoints/sms/outgoing/status.test.ts',
  },
  {
    of: 'spec 8',
    what: 'replies and code messages go back 90 days',
    by: 'apps/rest/src/endpoints/sms/incoming.test.ts',
  },
  {
    of: '1.1',
    what: 'the zone of the process changes no time',
    by: 'packages/core/src/time/gateway-time.test.ts',
  },
  {
    of: '1.4',
    what: 'a number without a row of the price table is BADDEST',
    by: 'packages/core/src/credits/prices.test.ts',
  },
  {
    of: '1.7',
    what: 'the text is sent without a substitute for any character',
    by: 'packages/core/src/messages/body.test.ts',
  },
  {
    of: '1.8',
    what: 'the lengths of every country',
    by: 'packages/core/src/messages/msisdn.test.ts',
  },
  {
    of: '1.10',
    what: 'a number that is refused for several reasons at once',
    by: 'packages/core/src/messages/send-messages.test.ts',
  },
  {
    of: '1.11',
    what: 'parallel calls never spend more than there is',
    by: 'tests/last-credits.test.ts',
  },
  {
    of: '1.13',
    what: 'screening again when a message is claimed',
    by: 'packages/core/src/dispatch/dispatcher.test.ts',
  },
  {
    of: '1.14',
    what: 'a locked account deletes its scheduled messages, and is refunded',
    by: 'apps/asp/src/endpoints/deletescheduled.test.ts',
  },
  {
    of: '1.15',
    what: 'deletions that race with dispatchers',
    by: 'tests/races.test.ts',
  },
  {
    of: '1.16',
    what: 'age counts from the due time, and a waiting message is never too old',
    by: 'packages/core/src/messages/follow-messages.test.ts',
  },
  {
    of: '1.17',
    what: 'a message that a carrier may have accepted is not sent again',
    by: 'tests/unknown-outcomes.test.ts',
  },
  {
    of: '1.18',
    what: 'two senders to one number, replies without an owner, dropped history',
    by: 'tests/replies.test.ts',
  },
  {
    of: '1.20',
    what: 'interrupted answers, and many concurrent clients',
    by: 'tests/return-once.test.ts',
  },
  {
    of: '1.21',
    what: 'the text of the confirmation, and that it is sent once',
    by: 'tests/replies.test.ts',
  },
  {
    of: '1.22',
    what: 'the account holder removes an entry',
    by: 'tests/replies.test.ts',
  },
  {
    of: '1.23',
    what: 'a manual opt-out is not confirmed',
    by: 'packages/core/testing/contracts/inbox/opting-out.ts',
  },
  {
    of: '1.24',
    what: 'keys are kept for 48 h, and survive kills between the work and its answer',
    by: 'tests/retries.test.ts',
  },
  {
    of: '1.25',
    what: 'the answers while the database is unavailable',
    by: 'tests/database-gone.test.ts',
  },
  {
    of: '1.25',
    what: '503 with Retry-After under overload',
    by: 'tests/overload.test.ts',
  },
  {
    of: '1.26',
    what: 'other networks are not affected',
    by: 'packages/adapters-node/src/failed-logins.test.ts',
  },
  {
    of: '1.26',
    what: 'the processes of a deployment count failures together',
    by: 'packages/core/testing/contracts/account-rates.ts',
  },
  {
    of: '1.32',
    what: 'codings, shift tables and joined parts of the text of a person',
    by: 'packages/adapters-smpp/src/inbound/offered.test.ts',
  },
  {
    of: '3.2',
    what: 'opt-outs break off if the database fails in the middle',
    by: 'apps/asp/src/endpoints/listoptouts.test.ts',
  },
  {
    of: '3.7',
    what: 'Fail, and the answer if it is unknown whether credits moved',
    by: 'apps/asp/src/endpoints/creditstransfer.test.ts',
  },
  {
    of: '5.1',
    what: 'ids of submissions over SMPP and of parts',
    by: 'apps/smpp/src/smpp-server.test.ts',
  },
  {
    of: '5.2',
    what: 'parts that never become a text',
    by: 'packages/core/testing/contracts/smpp-parts.ts',
  },
  {
    of: '5.3',
    what: 'several recipients of a submit_multi',
    by: 'apps/smpp/src/smpp-server.test.ts',
  },
  {
    of: '5.4',
    what: 'refusals over SMPP',
    by: 'apps/smpp/src/smpp-server.test.ts',
  },
  {
    of: '5.5',
    what: 'answers to binds',
    by: 'apps/smpp/src/smpp-server.test.ts',
  },
  {
    of: '5.6',
    what: 'destinations over SMPP',
    by: 'apps/smpp/src/smpp-server.test.ts',
  },
  {
    of: '5.7',
    what: 'receipts and replies that wait for a customer over SMPP',
    by: 'packages/core/testing/contracts/smpp-deliveries.ts',
  },
  {
    of: 'C1',
    what: 'a webhook is added, shown, changed, rotated, tested, replayed and removed',
    by: 'apps/rest/src/endpoints/webhooks.test.ts',
  },
]
