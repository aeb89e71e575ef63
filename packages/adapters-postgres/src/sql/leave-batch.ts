/** A CTE: the ids $3 are held no more by batch $2 of dispatcher $1, if CTE `held` has any. The other ids keep their positions. */
export const leaveBatch = `
left_batch as (
  update claimed_batch
  set ids = array(
    select case when id = any ($3::bigint[]) then null else id end
    from unnest(claimed_batch.ids) with ordinality claimed(id, position)
    order by position
  )
  where dispatcher = $1::bigint and seq = $2::int and exists (select from held)
)`
