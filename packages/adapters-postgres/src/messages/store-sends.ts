import type { AccountId } from '@gateway/core'
import { LANE } from '../stored-codes.ts'
import type { Connection } from '../connections.ts'
import type { AnswerToKeep } from './answers-to-keep.ts'
import { accept, acceptKeyed, acceptKeyedScheduled, acceptScheduled } from '../sql/accept.ts'
import { arrayOf, arrayOfTexts } from '../sql/arrays.ts'
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
  const values = {
    accounts: sends.map(({ account }) => account),
    firstIds: sends.map(({ firstId }) => firstId),
    counts: sends.map(({ numbers }) => numbers.length),
    prices: sends.map(({ cost }) => cost),
    parts: sends.map(({ body }) => body.parts),
    texts: sends.map(({ body }) => body.text),
    numbers: sends.map(({ numbers }) => arrayOf(numbers)),
    senders: sends.map(({ from }) => from),
    lanes: sends.map(({ lane }) => LANE[lane]),
    routes: sends.map(({ route }) => route),
    references: sends.some(({ references }) => references !== undefined) ? sends.map(referencesOf) : [],
    priorities: sends.some(({ priority }) => priority > 0) ? sends.map(({ priority }) => priority) : [],
    flashes: sends.some(({ flash }) => flash) ? sends.map(({ flash }) => flash) : [],
    validities: sends.some(({ validity }) => validity !== undefined) ? sends.map(({ validity }) => validity) : [],
  }
  const isScheduled = sends.some(({ due }) => due !== undefined)
  const due = { due: sends.map((send) => send.due) }
  const keyed = answers.length > 0 ? keptOf(answers) : undefined
  const rows = await (keyed === undefined
    ? isScheduled
      ? connection.run(acceptScheduled, { ...values, ...due })
      : connection.run(accept, values)
    : isScheduled
      ? connection.run(acceptKeyedScheduled, { ...values, ...due, ...keyed })
      : connection.run(acceptKeyed, { ...values, ...keyed }))
  return new Map(rows.map(({ id, balance }) => [id as AccountId, balance]))
}

const referencesOf = ({ references }: Send): string | undefined => references && arrayOfTexts(references)

const keptOf = (answers: readonly AnswerToKeep[]) => ({
  keyAccounts: answers.map(({ account }) => account),
  keys: answers.map(({ key }) => key),
  digests: answers.map(({ digest }) => digest),
  costsLater: answers.map(({ later }) => later),
  answers: answers.map(({ text }) => text),
})
