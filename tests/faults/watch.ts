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
  /** End of the load, by performance.now(). */
  readonly end: number
}

/** Asserts P-2 at every committed moment, not only at the end. */
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
  /** True if the waiting messages would take too long to send after the end of the load. */
  isFull(): boolean
  readonly over: Promise<void>
}

/** Counts the waiting messages every second until the end. */
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

/** Resolves soon after a violation of a promise that can be judged during the load, or at the end. */
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
  for (const { first, got, wanted: expected } of await wrongRefunds(database)) {
    figures.broken('P-2', `of send ${first} ${got} were refunded, and ${expected} had to be`)
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
