import { OUTCOME } from '@gateway/core/messages'
import { messageSequence, type ReplayId, type WebhookEventId, type WebhookId } from '@gateway/core/webhooks'
import { EVENT_CODE, LIST_STATE, REPLAY_STATE } from '../stored-codes.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import { milliseconds } from './arrays.ts'
import { instant } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'

/**
 * Number of waiting events of a replay at which no more are added. The limit makes it possible to stop a replay, and
 * keeps new events from waiting behind many replayed ones.
 */
const waitingMax = 2000
/** Maximum number of lists, and of bytes in them, that one step reads. The bytes hold at most some 4000 events. */
const rowsMax = 200
const bytesMax = 100_000

const times = ['from_at', 'to_at', 'up_to', 'started_at', 'ended_at'].map((time) => `${milliseconds(time)} as ${time}`)

const columnsOfReplay = `id, webhook_id, state, event, ${times.join(', ')}, events,
  (select coalesce(sum(count), 0) from webhook_event where replay = webhook_replay.id)::int as waiting`

const replayId = column<ReplayId>('int')
const webhookId = column<WebhookId>('int')
const eventId = column<WebhookEventId>('text')

const replayColumns = {
  id: replayId,
  webhook_id: webhookId,
  state: 'smallint',
  event: nullable(eventId),
  from_at: nullable(instant),
  to_at: nullable(instant),
  up_to: nullable(instant),
  started_at: instant,
  ended_at: nullable(instant),
  events: 'bigint',
  waiting: 'int',
} as const

/**
 * Starts a replay for an endpoint: of the event `event`, of events from `from` to before `to`, or of dead lists.
 * Returns no row if a replay of the account is running. Runs on the ordinary connections.
 */
export const startReplay = statement(
  'start-replay',
  { parameters: { webhook: 'int', event: 'text?', from: 'timestamptz?', to: 'timestamptz?' }, columns: replayColumns },
  sql`
insert into webhook_replay (webhook_id, account_id, event, from_at, to_at)
select id, account_id, :event, :from, :to from webhook where id = :webhook
on conflict (account_id) where state = ${REPLAY_STATE.running} do nothing
returning ${columnsOfReplay}, ${wakeIdle} as woken`,
)

/** Finds the running replay of the account to which the endpoint belongs. Runs on the ordinary connections. */
export const runningReplay = statement(
  'running-replay',
  { parameters: { webhook: 'int' }, columns: replayColumns },
  sql`
select ${columnsOfReplay}
from webhook_replay
where account_id = (select account_id from webhook where id = :webhook) and state = ${REPLAY_STATE.running}`,
)

/** Finds the latest replay of an endpoint. Runs on the ordinary connections. */
export const latestReplay = statement(
  'latest-replay',
  { parameters: { webhook: 'int' }, columns: replayColumns },
  sql`select ${columnsOfReplay} from webhook_replay where webhook_id = :webhook order by id desc limit 1`,
)

/**
 * Ends a replay and drops its waiting events, except events that a concurrent claim has locked, which are still pushed.
 * Runs on the ordinary connections.
 */
export const stopReplay = statement(
  'stop-replay',
  { parameters: { replay: 'int' } },
  sql`
with task as materialized (
  select id from webhook_replay where id = :replay for update
), waiting as materialized (
  select event.ctid row_id
  from task
  cross join lateral (select ctid from webhook_event where replay = task.id for update skip locked) event
), dropped as (
  delete from webhook_event where ctid = any (array(select row_id from waiting)) returning count
), known as (
  delete from webhook_replayed_event where replay = :replay
)
update webhook_replay
set state = ${REPLAY_STATE.stopped}, ended_at = coalesce(ended_at, now()),
  events = events - (select coalesce(sum(count), 0) from dropped)
where id = (select id from task) and (state = ${REPLAY_STATE.running} or exists (select from dropped))`,
)

/** Finds the running replay whose last step is longest ago. Runs on the ordinary connections. */
export const nextReplay = statement(
  'next-replay',
  { parameters: {}, columns: { id: replayId, webhook_id: webhookId, event: nullable(eventId), is_dead: 'bool' } },
  sql`
select id, webhook_id, event, from_at is null and event is null as is_dead
from webhook_replay
where state = ${REPLAY_STATE.running}
order by worked_at
limit 1`,
)

const ofMessages = Object.entries(EVENT_CODE)
  .filter(([type]) => type.startsWith('message.'))
  .map(([, code]) => code)
  .join()

interface Step {
  /** CTE of the lists to read, with the columns id, to_at and events. */
  readonly chosen: string
  /** Condition that selects the events to replay. `event` is an event, and `task` is the row of the replay. */
  readonly meant: string
  readonly more?: string
  /** Condition that is true if another step must follow. */
  readonly continues: string
}

/**
 * Does one step of a replay: adds events to the waiting ones. A replay adds an event only once, even if several lists
 * have it. If two processes work on a replay at once, one of them does nothing. Fields that events share are read once,
 * and the events of one send stay in one row.
 */
const step = ({ chosen, meant, more = '', continues: goesOn }: Step): string => sql`
with task as materialized (
  select *, (
    select coalesce(sum(count), 0) from webhook_event where replay = webhook_replay.id
  ) >= ${waitingMax} as is_full
  from webhook_replay
  where id = :replay and state = ${REPLAY_STATE.running}
  for no key update skip locked
), ${chosen}, stored as materialized (
  select stored.*
  from chosen
  cross join lateral json_to_recordset(chosen.events) stored (type smallint, sequence smallint, at bigint,
    code smallint, send bigint, "hasReference" bool, text text, subjects bigint[], numbers bigint[], copy bool)
), meant as materialized (
  select event.*, md5(concat_ws(' ', type, subject, sequence, number, event.at))::uuid as key
  from (
    select type, sequence, at, code, send, "hasReference" as has_reference, text,
      copy is not null as is_copy, subject, number
    from stored
    cross join lateral unnest(subjects, numbers) event (subject, number)
  ) event
  cross join task
  where ${meant}
), fresh as (
  insert into webhook_replayed_event (replay, event)
  select distinct :replay, key from meant
  on conflict do nothing
  returning event
), again as (
  insert into webhook_event
    (webhook_id, type, sequence, at, code, send_first_id, has_reference, text, count, subjects, msisdns, replay)
  select (select webhook_id from task), type, sequence, to_timestamp(at / 1000.0), code, send, has_reference,
    case when min(subject) = 0 then text end, count(*), array_agg(subject order by subject),
    array_agg(number order by subject), :replay
  from (select distinct on (key) meant.* from meant where key in (select event from fresh) order by key) once
  group by type, sequence, at, code, send, has_reference, text, case when type not in (${ofMessages}) then key end
  order by at, min(subject), sequence
  returning count
)${more}, seen as (
  select (select is_full from task) or ${goesOn} as goes_on
), known as (
  delete from webhook_replayed_event
  where replay = :replay and exists (select from task) and not (select goes_on from seen)
)
update webhook_replay
set events = task.events + (select coalesce(sum(count), 0) from again), worked_at = now(),
  state = case when seen.goes_on then task.state else ${REPLAY_STATE.done} end,
  ended_at = case when not seen.goes_on then now() end,
  up_to = coalesce(last.to_at, task.up_to), last_id = coalesce(last.id, task.last_id)
from task
cross join seen
left join (select to_at, id from chosen order by to_at desc, id desc limit 1) last on true
where webhook_replay.id = task.id
returning webhook_replay.state, task.is_full, case when exists (select from again) then ${wakeIdle} end as woken`

const columns = { state: 'smallint', is_full: 'bool' } as const

/**
 * Returns the CTE `chosen`. It has the first lists, in this order, that match the condition, as many as one step may
 * read.
 */
const chosen = (condition: string, order: string): string => `chosen as materialized (
  select id, to_at, events
  from (
    select *, sum(octet_length(events::text)) over (order by ${order}) - octet_length(events::text) as before
    from (
      select list.*
      from task
      cross join lateral (
        select id, to_at, events from webhook_list
        where webhook_id = task.webhook_id and ${condition}
        order by ${order}
        limit ${rowsMax}
      ) list
      where not is_full
    ) found
  ) counted
  where before < ${bytesMax}
)`

const isSomeLeft = 'exists (select from chosen)'

/**
 * Replays the next dead lists, and marks them as replayed. It includes events that are themselves copies from a replay,
 * because the endpoint never received them. Runs on the ordinary connections.
 */
export const replayDead = statement(
  'replay-dead',
  { parameters: { replay: 'int' }, columns },
  step({
    chosen: chosen(`state = ${LIST_STATE.dead}`, 'id'),
    meant: 'true',
    more: `, counted as (
  update webhook_list set state = ${LIST_STATE.replayed} where id = any (array(select id from chosen))
)`,
    continues: isSomeLeft,
  }),
)

/**
 * Replays the events of ended lists in the period of the replay. It omits events that are copies from a replay. For the
 * ordinary connections.
 */
export const replayPeriod = statement(
  'replay-period',
  { parameters: { replay: 'int' }, columns },
  step({
    chosen: chosen(
      `state in (${LIST_STATE.delivered}, ${LIST_STATE.dead}, ${LIST_STATE.replayed}) and not is_test
          and from_at < task.to_at and (to_at, id) > (coalesce(task.up_to, task.from_at), task.last_id)`,
      'to_at, id',
    ),
    meant: `not is_copy and event.at >= extract(epoch from task.from_at) * 1000
    and event.at < extract(epoch from task.to_at) * 1000`,
    continues: isSomeLeft,
  }),
)

/** Sequence of the last event of a message. */
const finalSequence = messageSequence(OUTCOME.delivered, 'receipt')

/**
 * Replays one event and ends the replay. The event has a type in `types`, the subject and, if they are not null, the
 * sequence (of a message), the number and the time in milliseconds. The time of the message or inbound message limits
 * which lists are read, so that the statement takes 1 ms with 100,000 lists.
 */
export const replayEvent = statement(
  'replay-event',
  {
    parameters: {
      replay: 'int',
      types: 'smallint[]',
      subject: 'bigint',
      sequence: 'smallint?',
      number: 'bigint?',
      at: 'bigint?',
    },
    columns,
  },
  step({
    chosen: `moment as materialized (
  select case when :sequence = ${finalSequence} then at else least(at, sent_at) end lo,
    case when :sequence = ${finalSequence} then at else greatest(at, sent_at) end hi
  from (
    select sent_at, coalesce(code_at, sent_at) at from message where id = :subject and :sequence is not null
  ) message
  union all
  select at, at from inbound_message where id = :subject and :sequence is null and :at is null
  union all
  select at, at from to_timestamp(:at / 1000.0) at where :at is not null
), chosen as materialized (
  select id, to_at, events
  from webhook_list
  where webhook_id = (select webhook_id from task) and to_at > (select lo - interval '1 ms' from moment)
    and from_at < (select hi + interval '1 ms' from moment)
    and events::text like '%' || coalesce(:number, :subject) || '%'
)`,
    meant: `type = any (:types) and subject = :subject and sequence = coalesce(:sequence, sequence)
    and (:number is null or number = :number) and event.at = coalesce(:at, event.at)`,
    continues: 'false',
  }),
)
