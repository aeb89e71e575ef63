import { setTimeout as delay } from 'node:timers/promises'
import type { CarrierOfRun } from './carrier.ts'
import { submittedAgain } from './checks.ts'
import type { Database } from './database.ts'
import type { Figures } from './figures.ts'
import { deletedIds, movedTwice, storedTwice, waitingMessages, wrongBalances, wrongRefunds } from './state.ts'

export interface Watched {
  readonly database: Database
  readonly figures: Figures
  readonly carrier: CarrierOfRun
  /** By performance.now(). */
  readonly end: number
}

/** P-2 holds at every committed moment, not only at the end. */
export async function watchBalances({ database, figures, end }: Watched): Promise<void> {
  while (performance.now() < end) {
    for (const { id, balance, entries } of await wrongBalances(database)) {
      figures.broken('P-2', `at one moment account ${id} had ${balance}, and its entries said ${entries}`)
    }
    figures.count('balances looked at during the run')
    await delay(3000)
  }
}

export interface Backlog {
  /** So much waits that it would take too long to send when the load has ended. */
  isFull(): boolean
  readonly over: Promise<void>
}

/** Looks every second, until the end, how many messages wait. */
export function watchBacklog({ database, end }: Watched, max: number): Backlog {
  let waiting = 0
  async function watch(): Promise<void> {
    while (performance.now() < end) {
      waiting = await waitingMessages(database)
      await delay(1000)
    }
  }
  return { isFull: () => waiting > max, over: watch() }
}

/**
 * Resolves soon after a promise was seen to be broken, of those that can be judged while all is under way; or at the
 * end.
 */
export async function untilBroken(watched: Watched): Promise<void> {
  while (performance.now() < watched.end && watched.figures.violations.length === 0) {
    await delay(5000)
    await look(watched)
  }
}

async function look({ database, figures, carrier }: Watched): Promise<void> {
  for (const { number, n } of await storedTwice(database)) {
    figures.broken('P-2', `${number} was asked for once, stored ${n} times`)
  }
  for (const { first, got, wanted } of await wrongRefunds(database)) {
    figures.broken('P-2', `of send ${first} ${got} were refunded, and ${wanted} had to be`)
  }
  for (const { account, amount, n } of await movedTwice(database)) {
    figures.broken('P-2', `a transfer of ${amount} tenths from ${account} was asked for once and left ${n} times`)
  }
  const deleted = await deletedIds(database)
  const record = await carrier.record(database)
  for (const how of submittedAgain(record)) figures.broken('P-5', how)
  for (const { messageId } of record) {
    if (deleted.has(messageId)) figures.broken('P-8', `${messageId} was deleted and submitted`)
  }
}
