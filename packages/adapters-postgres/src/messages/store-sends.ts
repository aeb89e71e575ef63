import type { AccountId } from '@gateway/core'
import { LANE } from '../stored-codes.ts'
import type { Connection } from '../connections.ts'
import type { AnswerToKeep } from './answers-to-keep.ts'
import { accept, acceptKeyed, acceptKeyedScheduled, acceptScheduled } from '../sql/accept.ts'
import { arrayOf, arrayOfTexts, arrayOfTimes } from '../sql/arrays.ts'
import type { Send } from './lay-out.ts'

/** By account that paid, what it has left. */
export type Paid = ReadonlyMap<AccountId, number>

/** One statement: all sends of an account are charged and stored, with the answers about them, or none of them. */
export async function storeSends(
  connection: Connection,
  sends: readonly Send[],
  answers: readonly AnswerToKeep[],
): Promise<Paid> {
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
    arrayOf(sends.map(({ route }) => route)),
  ]
  const isScheduled = sends.some(({ due }) => due !== undefined)
  if (isScheduled) columns.push(arrayOfTimes(sends.map(({ due }) => due)))
  if (answers.length > 0) columns.push(...columnsOf(answers))
  const [atOnce, scheduled] = answers.length > 0 ? [acceptKeyed, acceptKeyedScheduled] : [accept, acceptScheduled]
  const rows = await connection.run(isScheduled ? scheduled : atOnce, columns)
  return new Map(rows.map(({ id, balance }) => [id as AccountId, balance]))
}

const columnsOf = (answers: readonly AnswerToKeep[]) => [
  arrayOf(answers.map(({ account }) => account)),
  arrayOf(answers.map(({ key }) => key)),
  arrayOf(answers.map(({ digest }) => digest)),
  arrayOf(answers.map(({ later }) => later)),
  arrayOfTexts(answers.map(({ text }) => text)),
]
