import { limits } from '@gateway/core'
import { credits, type Movement, type Period } from '@gateway/core/credits'
import { daysBefore, instant } from '@gateway/core/time'
import { anAccount, anOrder, numbers } from '@gateway/core/testing'
import { Client } from 'pg'
import { freshDatabase } from '../../testing/fresh-database.ts'
import { postgresPorts } from '../postgres-ports.ts'

/**
 * Runs `check` with an account that was opened 120 days ago. Its old sends were dropped just now. It also sent messages
 * a day ago, with ids leased two days ago.
 */
async function withHistory(
  check: (of: { movements: (period: Period) => Promise<readonly Movement[]> }) => Promise<void>,
) {
  const database = await freshDatabase()
  const { ports, close } = postgresPorts({ connectionString: database.connectionString })
  const client = new Client({ connectionString: database.connectionString })
  await client.connect()
  try {
    const { id } = await anAccount(ports, { credits: 1000 })
    const sendAt = async (days: number, count: number) => {
      await ports.messages.accept(anOrder(id, { to: numbers(count) }))
      await client.query(`update send set created_at = now() - make_interval(days => $1) where n = $2`, [days, count])
    }
    await client.query(`update ledger set at = now() - interval '120 days'`)
    await sendAt(1, 3)
    await client.query(`update id_lease set at = now() - interval '2 days'`)
    await client.query(`insert into id_lease (block) values (400)`)
    await client.query(
      `with d as (update account set balance = balance - 50) insert into ledger (account_id, kind, amount) values ($1, 4, -50)`,
      [id],
    )
    await ports.ledger.topUp(id, credits(7), 'late', instant(Date.now()))
    const movements = async (period: Period) => {
      const all: Movement[] = []
      for await (const some of ports.ledger.movements(id, period, limits.statusDays)) all.push(...some)
      return all
    }
    await check({ movements })
    expect((await ports.ledger.check()).differences).toEqual([])
  } finally {
    await client.end()
    await close()
    await database.drop()
  }
}

const kinds = (all: readonly Movement[]) => all.map(({ cause, balance }) => [cause.kind, balance])

test('the sum of dropped sends is listed when the last of them can have been accepted, so that all later balances are true', () =>
  withHistory(async ({ movements }) => {
    const all = await movements({})
    expect(kinds(all)).toEqual([
      ['top-up', 1000],
      ['dropped-sends', 950],
      ['send', 920],
      ['top-up', 927],
    ])
    const dropped = all[1]?.at ?? instant(0)
    expect(Math.abs(dropped - daysBefore(instant(Date.now()), limits.statusDays))).toBeLessThan(600_000)
  }))

test('the sends of a period are found in blocks leased since two days before it', () =>
  withHistory(async ({ movements }) => {
    const from = instant(Date.now() - 36 * 3_600_000)
    expect(kinds(await movements({ from }))).toEqual([
      ['send', 920],
      ['top-up', 927],
    ])
    expect(kinds(await movements({ from: instant(Date.now() - 3_600_000) }))).toEqual([['top-up', 927]])
    expect(kinds(await movements({ to: from }))).toEqual([
      ['top-up', 1000],
      ['dropped-sends', 950],
    ])
  }))
