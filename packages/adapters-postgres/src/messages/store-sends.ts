import type { AccountId } from '@gateway/core'
import { LANE } from '../claimed-batches/lane-number.ts'
import type { Connection } from '../connections.ts'
import { accept, acceptScheduled } from '../sql/accept.ts'
import { arrayOf, arrayOfTimes } from '../sql/arrays.ts'
import type { Send } from './lay-out.ts'

/** By account that paid, what it has left. */
export type Paid = ReadonlyMap<AccountId, number>

/** One statement: all sends of an account are charged and stored, or none of them. */
export async function storeSends(connection: Connection, sends: readonly Send[]): Promise<Paid> {
  if (sends.length === 0) return new Map()
  const columns = [
    arrayOf(sends.map(({ account }) => account)),
    arrayOf(sends.map(({ firstId }) => firstId)),
    arrayOf(sends.map(({ numbers }) => numbers.length)),
    arrayOf(sends.map(({ cost }) => cost)),
    arrayOf(sends.map(({ body }) => body.parts)),
    sends.map(({ body }) => body.text),
    sends.map(({ numbers }) => arrayOf(numbers)),
    arrayOf(sends.map(({ from }) => from)),
    arrayOf(sends.map(({ lane }) => LANE[lane])),
  ]
  const rows = sends.every(({ due }) => due === undefined)
    ? await connection.run(accept, columns)
    : await connection.run(acceptScheduled, [...columns, arrayOfTimes(sends.map(({ due }) => due))])
  return new Map(rows.map(({ id, balance }) => [id as AccountId, balance]))
}
