import type { DeliveryReceipt } from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'
import { aCarrierId, until } from '@gateway/core/testing'
import { receiptsTogether } from './receipts-together.ts'

const carrier = aCarrierId('main')
const receipt = (reference: string): Omit<DeliveryReceipt, 'carrier'> => ({
  ...{ reference, code: OUTCOME.delivered, number: undefined, submitted: undefined },
})

/** Store whose commits a test ends, each with success or failure. */
function controlledStore() {
  const commits: { readonly references: readonly unknown[]; end(problem?: Error): void }[] = []
  const accept: Parameters<typeof receiptsTogether>[0] = (_, receipts) =>
    new Promise((resolve, reject) =>
      commits.push({
        references: receipts.map(({ reference }) => reference),
        end: (problem) => {
          if (problem === undefined) resolve([])
          else reject(problem)
        },
      }),
    )
  const clock = { now: 0 }
  return { commits, clock, store: receiptsTogether(accept, () => clock.now) }
}

test('receipts that arrive during a commit are stored together in the next, in order, and resolve after it', async () => {
  const { commits, store } = controlledStore()
  const resolved: string[] = []
  for (const reference of ['a', 'b', 'c']) {
    void store(carrier, [receipt(reference)]).then(() => resolved.push(reference))
  }
  expect(commits.map(({ references }) => references)).toEqual([['a']])
  commits[0]?.end()
  await until(() => commits.length === 2)
  expect([commits[1]?.references, resolved]).toEqual([['b', 'c'], ['a']])
  commits[1]?.end()
  await until(() => resolved.length === 3)
  expect(resolved).toEqual(['a', 'b', 'c'])
})

test('receipts of different carriers do not wait for each other', () => {
  const { commits, store } = controlledStore()
  void store(carrier, [receipt('a')])
  void store(aCarrierId('other'), [receipt('b')])
  expect(commits.map(({ references }) => references)).toEqual([['a'], ['b']])
})

test('after a commit of several callbacks failed, receipts are stored one callback at a time for ten seconds', async () => {
  const { commits, clock, store } = controlledStore()
  const add = (reference: string) =>
    store(carrier, [receipt(reference)]).catch((problem: unknown) => (problem as Error).message)
  const results = ['a', 'b', 'c'].map(add)
  commits[0]?.end()
  await until(() => commits.length === 2)
  commits[1]?.end(new Error('invalid'))
  expect(await Promise.all(results)).toEqual([undefined, 'invalid', 'invalid'])
  void add('b')
  void add('c')
  expect(commits.slice(2).map(({ references }) => references)).toEqual([['b'], ['c']])
  clock.now = 10_000
  void add('d')
  void add('e')
  expect(commits.slice(4).map(({ references }) => references)).toEqual([['d']])
})

test('a commit has at most 500 receipts, but all those of one callback', async () => {
  const { commits, store } = controlledStore()
  const many = (count: number) => Array.from({ length: count }, (_, at) => receipt(String(at)))
  for (const count of [1, 400, 100, 1, 600]) void store(carrier, many(count))
  for (let at = 0; at < 4; at++) {
    await until(() => commits.length > at)
    commits[at]?.end()
  }
  expect(commits.map(({ references }) => references.length)).toEqual([1, 500, 1, 600])
})
