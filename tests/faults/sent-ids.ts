import type { Database } from './database.ts'

/** Returns message ids by number. The run sends to each number once. */
export async function idsOf(database: Database): Promise<ReadonlyMap<string, number>> {
  const sends = await database.ask<{ first: string; numbers: string }>(
    `select first_id first, array_to_string(msisdns, ',') numbers from send`,
  )
  return new Map(
    sends.flatMap(({ first, numbers }) => numbers.split(',').map((to, at) => [to, Number(first) + at] as const)),
  )
}
