import { setTimeout as delay } from 'node:timers/promises'
import type { AccountId } from '@gateway/core'
import type { Connections } from '../connections.ts'
import type { LostAnswer } from '../errors.ts'
import { arrayOf } from '../sql/arrays.ts'
import { endBackend, findSends } from '../sql/lost-answer.ts'
import { readBalances } from '../sql/read-account.ts'
import type { Send } from './lay-out.ts'

export interface FoundOut {
  /** First ids of the sends that were stored. All others were not, and never will be. */
  readonly stored: ReadonlySet<number>
  readonly balances: ReadonlyMap<AccountId, number>
}

const pauseMilliseconds = 50

/**
 * What became of sends whose answer was lost. The old backend may still be at work, so it is ended first: only then is what
 * can be seen the whole truth. Tries for `seconds`, also while the server starts again; then throws, and nobody knows.
 */
export async function findOut(
  hot: Connections,
  lost: LostAnswer,
  sends: readonly Send[],
  seconds: number,
): Promise<FoundOut> {
  const deadline = performance.now() + seconds * 1000
  for (;;) {
    try {
      const { pid, start } = lost.backend
      while ((await hot.run(endBackend, [pid, start])).length > 0) {
        if (performance.now() > deadline) throw new Error('the old backend does not end')
        await delay(pauseMilliseconds / 10)
      }
      return await look(hot, sends)
    } catch (error) {
      if (performance.now() > deadline) {
        throw new Error('whether messages were accepted cannot be found out', { cause: error })
      }
      await delay(pauseMilliseconds)
    }
  }
}

async function look(hot: Connections, sends: readonly Send[]): Promise<FoundOut> {
  const found = await hot.run(findSends, [arrayOf(sends.map(({ firstId }) => firstId))])
  const accounts = new Set(sends.map(({ account }) => account))
  const balances = await hot.run(readBalances, [arrayOf([...accounts])])
  return {
    stored: new Set(found.map((row) => row.first_id)),
    balances: new Map(balances.map(({ id, balance }) => [id as AccountId, balance])),
  }
}
