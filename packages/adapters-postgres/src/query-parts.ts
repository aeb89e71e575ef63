import { sql } from 'kysely'

/*
 * Parts of queries that kysely builds. Times are those of the database's clock.
 */

export const now = sql<string>`now()`

export const secondsFromNow = (seconds: number) => sql<string>`now() + make_interval(secs => ${seconds})`

/** Returns the condition that the time in a column has not come yet. Null counts as past. */
export const isAhead = (column: string) => sql<boolean>`${sql.ref(column)} > now()`

/** Runs a query. Returns true if it returned a row. */
export const hasRow = async (query: { execute(): Promise<readonly unknown[]> }): Promise<boolean> =>
  (await query.execute()).length > 0
