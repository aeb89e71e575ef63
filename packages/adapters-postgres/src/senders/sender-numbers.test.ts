import type { SenderAddress } from '@gateway/core/messages'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import type { Connections } from '../connections.ts'
import { openPools } from '../pools.ts'
import { serverAddress } from '../server-address.ts'
import { defaultSettings, silent } from '../settings.ts'
import { senderNumbers } from './sender-numbers.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

/** Calls `work` with connections that count their statements. While `fails` is true, statements throw. */
async function withCounted(
  work: (counted: { readonly hot: Connections; statements: number; fails: boolean }) => Promise<void>,
): Promise<void> {
  const pools = openPools(serverAddress(database.connectionString), defaultSettings, silent)
  const counted = { hot: pools.hot, statements: 0, fails: false }
  const run: Connections['run'] = async (statement, values) => {
    counted.statements++
    if (counted.fails) throw new Error('no connection is free')
    return pools.hot.run(statement, values)
  }
  try {
    await work(Object.assign(counted, { hot: { ...pools.hot, run } }))
  } finally {
    await pools.close(1)
  }
}

const setOf = (...addresses: readonly string[]): ReadonlySet<SenderAddress> => new Set(addresses as SenderAddress[])

test('concurrent lookups of an address share one', async () => {
  await withCounted(async (counted) => {
    const senders = senderNumbers(counted.hot)
    const answers = await Promise.all(Array.from({ length: 1000 }, () => senders.numbersOf(setOf('27820000001'))))
    expect(new Set(answers.map((numbers) => [...numbers].join())).size).toBe(1)
    // The address is looked up, added, and looked up again.
    expect(counted.statements).toBe(3)
    await senders.numbersOf(setOf('27820000001'))
    expect(counted.statements).toBe(3)
  })
})

test('a lookup of several addresses waits for those of other callers', async () => {
  await withCounted(async ({ hot }) => {
    const senders = senderNumbers(hot)
    const knowsAll = async (...addresses: readonly string[]): Promise<boolean> => {
      const requested = setOf(...addresses)
      const numbers = await senders.numbersOf(requested)
      return [...requested].every((address) => numbers.has(address))
    }
    expect(await Promise.all([knowsAll('a', 'b'), knowsAll('b', 'c'), knowsAll('c', 'a', 'd'), knowsAll('a')])).toEqual(
      [true, true, true, true],
    )
    expect(new Set((await senders.numbersOf(setOf())).values()).size).toBe(4)
  })
})

test('a failed lookup fails for all its callers, and the next one tries again', async () => {
  await withCounted(async (counted) => {
    const senders = senderNumbers(counted.hot)
    counted.fails = true
    const lookups = await Promise.allSettled([senders.numbersOf(setOf('e')), senders.numbersOf(setOf('e', 'f'))])
    expect(lookups.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    counted.fails = false
    expect((await senders.numbersOf(setOf('e', 'f'))).size).toBe(2)
  })
})
