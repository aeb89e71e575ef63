import type { AccountId } from '@gateway/core'
import { LANE } from '../claimed-batches/lane-number.ts'
import type { Connection } from '../connections.ts'
import { accept } from '../sql/accept.ts'
import { arrayOf, arrayOfTimes } from '../sql/arrays.ts'
import type { Send } from './lay-out.ts'

/** By account that paid, what it has left. */
export type Paid = ReadonlyMap<AccountId, number>

/** One statement: all sends of an account are charged and stored, or none of them. */
export async function storeSends(connection: Connection, sends: readonly Send[]): Promise<Paid> {
  if (sends.length === 0) return new Map()
  const rows = await connection.run(accept, [
    arrayOf(sends.map(({ account }) => account)),
    arrayOf(sends.map(({ firstId }) => firstId)),
    arrayOf(sends.map(({ numbers }) => numbers.length)),
    arrayOf(sends.map(({ cost }) => cost)),
    arrayOf(sends.map(({ body }) => body.parts)),
    sends.map(({ body }) => body.text),
    sends.map(({ numbers }) => arrayOf(numbers)),
    arrayOfTimes(sends.map(({ due }) => due)),
    arrayOf(sends.map(({ from }) => from)),
    arrayOf(sends.map(({ lane }) => LANE[lane])),
  ])
  return new Map(rows.map(({ id, balance }) => [id as AccountId, balance]))
}
