import type { PreparedStatement } from './prepared-statement.ts'

/** Those of the queues $2 in which something of lane $1 is due. For whoever claims from several. */
export const queuesWithWork: PreparedStatement<{ queue: number }> = {
  name: 'queues-with-work',
  text: `
select queue
from unnest($2::smallint[]) asked(queue)
where (select true from due where due.queue = asked.queue and lane = $1::smallint limit 1)`,
}
