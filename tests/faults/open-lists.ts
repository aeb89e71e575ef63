/** The n-th list of a batch, from 0, has the id `listsPerBatch * batch + n`. */
const listsPerBatch = 10_000

/** SQL: lists of events that were claimed and have not ended, those of which nothing has come yet among them. */
export const openLists = `(
  select id, webhook_id, leased, due_at, events from webhook_list where state = 0
  union all
  select ${listsPerBatch} * batch.id + place, webhook_id, true, due_at, cut.events
  from webhook_batch batch
  cross join lateral cut_webhook_events(events, list_size, array(
    select place from generate_series(0, lists - 1) place
    where not exists (select from webhook_list where id = ${listsPerBatch} * batch.id + place)
  )) cut
  where open > 0
) open_list`
