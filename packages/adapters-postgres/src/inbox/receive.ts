import { randomUUID } from 'node:crypto'
import type { InboundMessage, Inbox, Received } from '@gateway/core/inbox'
import type { Body } from '@gateway/core/messages'
import type { Routes } from '@gateway/core/routes'
import { retryWorkOnConnectionLoss } from '../retry-on-connection-loss.ts'
import type { Connection } from '../connections.ts'
import type { Context } from '../context.ts'
import { isLostAnswer, sqlState } from '../errors.ts'
import { endLostStatement } from '../settle-lost-statement.ts'
import { findNoted, findWaitingParts, noteInboundMessages, takeOldParts } from '../sql/inbound.ts'
import { groupOf, rememberedKeys, type Keyed } from './keyed.ts'
import { storeTexts, without, type Confirming } from './store-texts.ts'
import { confirmationsMax, joined, joinedKeysOf, noteParts, wholeTexts, type WholeText } from './whole-texts.ts'

/** Maximum number of messages in one transaction. */
const togetherMax = 500

type Store = (texts: readonly WholeText[]) => Promise<void>

/**
 * Stores messages, some hundred in one transaction. The transaction also records a key for each message, so that it may
 * be run again if its answer is lost. If a key exists already, the first run or another call has stored the message.
 */
export function createReceive(context: Context, routes: Pick<Routes, 'list'>): Pick<Inbox, 'receive' | 'releaseParts'> {
  const { ids, pools, settings } = context
  const keys = rememberedKeys()

  /** Reserves ids and reads routes for at most `confirmationsMax` confirmations. */
  async function confirmingBy(body: Body, confirmationsMax: number): Promise<Confirming> {
    if (confirmationsMax === 0) return { body, ids: [], routes: [] }
    const published = await routes.list()
    return { body, ids: await ids.take(confirmationsMax), routes: published }
  }

  /**
   * Runs `work` in a transaction. `work` may store texts once, with at most `confirmationsMax` confirmations. Runs it
   * again if the answer to the commit is lost.
   */
  function storing<T>(
    confirmationsMax: number,
    confirmation: Body,
    work: (connection: Connection, store: Store) => Promise<T>,
  ): Promise<T> {
    return retryWorkOnConnectionLoss(pools.hot, async () => {
      const confirming = await confirmingBy(confirmation, confirmationsMax)
      let used = 0
      try {
        const result = await pools.hot.transaction((connection) =>
          work(connection, async (texts) => {
            used = await storeTexts(context, connection, texts, confirming)
          }),
        )
        ids.giveBack(without(confirming.ids, used))
        return result
      } catch (error) {
        if (!isLostAnswer(error)) ids.giveBack(confirming.ids)
        // Ends the old server process, because it holds locks on the keys that it has recorded.
        else await endLostStatement(pools.hot, error, settings.lookUpSeconds, () => Promise.resolve())
        throw error
      }
    })
  }

  function receiveOnce(items: readonly Keyed[], confirmation: Body): Promise<readonly Received[]> {
    const operation = randomUUID()
    let runs = 0
    return storing(confirmationsMax(items), confirmation, async (connection, store) => {
      const own = runs++ === 0 ? undefined : await storedBefore(connection, items, operation)
      const fresh = await noteNew(connection, items, operation)
      const { texts, incomplete, repeated } = await wholeTexts(connection, fresh)
      await store(texts)
      const isFresh = new Set(fresh)
      return items.map((item) => {
        if (!isFresh.has(item)) return own?.get(item) ?? 'repeated'
        if (repeated.has(item)) return 'repeated'
        return incomplete.has(item) ? 'incomplete' : 'stored'
      })
    })
  }

  /**
   * Stores messages together or, if the database rejects a value, one after the other, so that the others are stored.
   */
  async function receiveSome(items: readonly Keyed[], confirmation: Body): Promise<readonly Received[]> {
    try {
      return await receiveOnce(items, confirmation)
    } catch (error) {
      if (items.length === 1 || !isOfData(error)) throw error
      const received: Received[] = []
      for (const item of items) received.push(...(await receiveOnce([item], confirmation).catch(() => [])))
      if (received.length < items.length) throw error
      return received
    }
  }

  async function receive(messages: readonly InboundMessage[], confirmation: Body): Promise<readonly Received[]> {
    const items = keys.take(messages)
    const received: Received[] = []
    try {
      for (let from = 0; from < items.length; from += togetherMax) {
        received.push(...(await receiveSome(items.slice(from, from + togetherMax), confirmation)))
      }
    } catch (error) {
      keys.keep(items)
      throw error
    }
    return received
  }

  return {
    receive,
    releaseParts: (seconds, textsMax, confirmation) =>
      storing(Math.min(textsMax, togetherMax), confirmation, async (connection, store) => {
        const rows = await connection.run(takeOldParts, {
          ageSeconds: seconds,
          textsMax: Math.min(textsMax, togetherMax),
        })
        await noteParts(connection, rows.flatMap(joinedKeysOf))
        await store(rows.map(joined))
        return rows.length
      }),
  }
}

/** Returns true for SQLSTATE classes 22 and 23: the database rejects a value. */
const isOfData = (error: unknown): boolean => /^2[23]/.test(sqlState(error) ?? '')

/** Records the keys that are new and returns their messages, one for each key. */
async function noteNew(connection: Connection, items: readonly Keyed[], operation: string): Promise<readonly Keyed[]> {
  const first = new Map<string, Keyed>()
  for (const item of items) if (!first.has(item.key)) first.set(item.key, item)
  const rows = await connection.run(noteInboundMessages, { keys: [...first.keys()], operation })
  const noted = new Set(rows.map(({ key }) => key))
  return [...first.values()].filter(({ key }) => noted.has(key))
}

/** Returns the messages that an earlier run of this operation stored before its answer was lost. */
async function storedBefore(connection: Connection, items: readonly Keyed[], operation: string) {
  const rows = await connection.run(findNoted, { keys: items.map(({ key }) => key), operation })
  const noted = new Set(rows.map(({ key }) => key))
  const groups = items.map(({ message }) => groupOf(message))
  const waiting = new Set((await connection.run(findWaitingParts, { keys: groups })).map(({ key }) => key))
  const before = new Map<Keyed, Received>()
  for (const [i, item] of items.entries()) {
    // The key is deleted from the set, because a second message with this key in the same call repeats the first one.
    if (noted.delete(item.key)) before.set(item, waiting.has(groups[i] ?? '') ? 'incomplete' : 'stored')
  }
  return before
}
