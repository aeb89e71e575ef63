import { OUTCOME } from '@gateway/core/messages'
import { eventTypeOf, messageSequence, type LearntFrom } from '@gateway/core/webhooks'
import { EVENT_CODE, WEBHOOK_STATE } from '../stored-codes.ts'
import { storeReceipts } from './store-smpp-receipts.ts'

const codes = Object.values(OUTCOME).filter((code) => eventTypeOf(code) !== undefined)

/** SQL that maps each outcome with an event to the number that `numberOf` returns for the outcome. */
const caseOf = (numberOf: (code: (typeof codes)[number]) => number): string =>
  `case code ${codes.map((code) => `when ${code} then ${numberOf(code)}`).join(' ')} end`

const typeCode = caseOf((code) => EVENT_CODE[eventTypeOf(code) ?? 'test'])
const sequence = (from: LearntFrom): string => caseOf((code) => messageSequence(code, from))

/** Condition that an endpoint receives events of the type with this code, either now or after it is resumed. */
export const wants = (type: number | string): string =>
  `state <> ${WEBHOOK_STATE.disabled} and events & (1 << ${type}) <> 0`

/**
 * CTEs that store events and SMPP receipts for the CTE `changed` (id, account_id, send_first_id, msisdn, code, at,
 * has_reference and confirms_opt_out of messages that have just changed). If no account has an endpoint or an SMPP
 * credential, the CTEs only look that up, once for each account. Events of one send share a row, because a row for each
 * event cost 20 µs more a message.
 */
export const storeMessageEvents = (changed: string, from: LearntFrom): string => `
changed_accounts as materialized (
  select array(select distinct account_id from ${changed}) as ids
), wanting as materialized (
  select distinct account_id
  from webhook
  where account_id = any ((select ids from changed_accounts)::int[]) and state <> ${WEBHOOK_STATE.disabled}
), events as (
  insert into webhook_event
    (webhook_id, type, sequence, at, code, send_first_id, has_reference, count, subjects, msisdns)
  select endpoint.id, happened.type, happened.sequence, happened.at, happened.code, happened.send_first_id,
    happened.has_reference, happened.count, happened.subjects, happened.msisdns
  from (
    select account_id, send_first_id, code, at, has_reference, ${typeCode} as type, ${sequence(from)} as sequence,
      count(*) as count, array_agg(id) as subjects, array_agg(msisdn) as msisdns
    from ${changed}
    where case when account_id in (select account_id from wanting) then not confirms_opt_out end
    group by account_id, send_first_id, code, at, has_reference
  ) happened
  cross join lateral (
    select id from webhook where account_id = happened.account_id and ${wants('happened.type')} offset 0
  ) endpoint
  order by happened.subjects[1]
  returning 1
), ${storeReceipts(changed, {
  accounts: '(select ids from changed_accounts)::int[]',
  code: 'code',
  at: 'at',
})}`

/**
 * Two CTEs that store message.sent events for the CTE `messages` (id, account_id, send_first_id, msisdn, has_reference,
 * confirms_opt_out), if an endpoint of the accounts in the array `accounts` subscribes to such events. If no endpoint
 * does, the CTEs read nothing else.
 */
export const storeSentEvents = (messages: string, accounts: string): string => `
wanting as materialized (
  select distinct account_id from webhook where account_id = any (${accounts}) and ${wants(EVENT_CODE['message.sent'])}
), events as (
  insert into webhook_event
    (webhook_id, type, sequence, at, code, send_first_id, has_reference, count, subjects, msisdns)
  select endpoint.id, ${EVENT_CODE['message.sent']}, ${messageSequence(OUTCOME.sent, 'handover')}, now(),
    ${OUTCOME.sent},
    sent.send_first_id, sent.has_reference, sent.count, sent.subjects, sent.msisdns
  from (
    select account_id, send_first_id, has_reference, count(*) as count, array_agg(id) as subjects,
      array_agg(msisdn) as msisdns
    from ${messages}
    where (select exists (select from wanting)) and not confirms_opt_out
      and case when account_id in (select account_id from wanting) then true end
    group by account_id, send_first_id, has_reference
  ) sent
  cross join lateral (
    select id from webhook where account_id = sent.account_id and ${wants(EVENT_CODE['message.sent'])} offset 0
  ) endpoint
)`

interface StoredEvent {
  readonly account: string
  /** SQL for the id of an inbound message, or 0 if the event has none. */
  readonly subject: string
  readonly number?: string
  readonly text?: string
  /** More tables to join, as SQL. */
  readonly from?: string
  readonly isReply?: boolean
}

/**
 * SQL that inserts an event for every endpoint of the account that subscribes to it. All arguments are SQL. Replies
 * have no events in an account that gets them in another way (core's `RepliesBy`).
 */
export const storeEvent = (
  type: number | string,
  { account, subject, number, text, from, isReply = false }: StoredEvent,
): string => `
insert into webhook_event (webhook_id, type, sequence, at, subjects, msisdns, text)
select webhook.id, ${type}, 1, now(), array[${subject}]::bigint[],
  array[${number ?? 'null'}]::bigint[], ${text ?? 'null'}
from webhook${from ?? ''}
where webhook.account_id = ${account} and ${wants(type)}${isReply ? ` and ${byWebhook(account)}` : ''}`

const byWebhook = (account: string): string =>
  `not exists (select from smpp_account where account_id = ${account} and replies_by <> 'webhook')`
