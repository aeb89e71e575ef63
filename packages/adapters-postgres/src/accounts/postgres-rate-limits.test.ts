import type { Instant } from '@gateway/core/time'
import { casesOf, testSeed } from '@gateway/core/testing'
import fc from 'fast-check'
import { Client } from 'pg'
import { useRate } from '@gateway/core/contracts'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { takeRate } from '../sql/accounts.ts'

let database: FreshDatabase
let client: Client
beforeAll(async () => {
  database = await freshDatabase()
  client = new Client({ connectionString: database.connectionString })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

interface Case {
  /** Milliseconds until the rate that the account has used is paid off. Null if the account has used nothing. */
  readonly paidOff: number | null
  readonly perSecond: number
  /** Numbers of units of successive requests, all made at the same moment. */
  readonly counts: readonly number[]
}

const cases: fc.Arbitrary<Case> = fc.record({
  paidOff: fc.option(fc.oneof(fc.integer({ min: -3000, max: 3000 }), fc.constantFrom(-1000, -999, -1001, -1, 0, 1))),
  perSecond: fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 1_000_000 })),
  counts: fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 1000 })), {
    minLength: 1,
    maxLength: 5,
  }),
})

/** Runs requests in one transaction, in which the statement's now() does not advance. */
async function takeAll({ paidOff, perSecond, counts }: Case) {
  await client.query('begin')
  try {
    if (paidOff !== null)
      await client.query(`insert into rate_use values (1, 0, now() + $1::int * interval '1 millisecond')`, [paidOff])
    const steps: { readonly waitMs: number | undefined; readonly paidOff: number }[] = []
    for (const count of counts) {
      const { rows } = await client.query<{ wait: number | null }>(takeRate.text, [1, 0, count, perSecond])
      const [used] = (
        await client.query<{ paid_off: number }>(
          'select (extract(epoch from paid_off - now()) * 1000)::float8 as paid_off from rate_use',
        )
      ).rows
      const wait = rows[0]?.wait ?? undefined
      steps.push({ waitMs: wait && wait * 1000, paidOff: used?.paid_off ?? NaN })
    }
    return steps
  } finally {
    await client.query('rollback')
  }
}

/**
 * Tolerance in milliseconds. PostgreSQL counts in microseconds, so this close to the limit the statement and `useRate`
 * may decide differently.
 */
const apartMs = 0.01
const ruledAt = (one: Case, i: number, paidOff: number | undefined, at: number) =>
  useRate(paidOff as Instant | undefined, one.counts[i] ?? NaN, one.perSecond, at as Instant)

const casesMax = casesOf(300)

test('the statement accepts exactly what `useRate` does, with the same wait, in generated cases', async () => {
  const decided = { accepted: 0, refused: 0 }
  const check = async (one: Case) => {
    let paidOff = one.paidOff ?? undefined
    for (const [i, { waitMs, paidOff: stored }] of (await takeAll(one)).entries()) {
      if (waitMs === undefined) {
        decided.accepted++
        const ruled = ruledAt(one, i, paidOff, apartMs)
        expect([one, i, ruled]).toEqual([one, i, { paidOff: expect.any(Number) as number }])
        if ('paidOff' in ruled) expect(Math.abs(stored - ruled.paidOff)).toBeLessThan(2 * apartMs)
      } else {
        decided.refused++
        const seconds = [waitMs - apartMs, waitMs + apartMs].map((ms) => Math.max(1, Math.ceil(ms / 1000)))
        const ruled = ruledAt(one, i, paidOff, -apartMs)
        expect([one, i, ruled]).toEqual([one, i, { overLimitSeconds: expect.any(Number) as number }])
        if ('overLimitSeconds' in ruled) expect(seconds).toContain(ruled.overLimitSeconds)
      }
      // The statement and `useRate` both continue from the stored value, so that rounding errors do not add up.
      paidOff = stored
    }
  }
  await fc.assert(fc.asyncProperty(cases, check), { seed: testSeed(), numRuns: casesMax })
  expect(Math.min(decided.accepted, decided.refused)).toBeGreaterThan(casesMax / 3)
})
