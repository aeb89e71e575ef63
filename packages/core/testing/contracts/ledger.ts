import { strict as assert } from 'node:assert'
import { credits, instant, type StoredPorts } from '@gateway/core'
import { anAccountId } from '../ids.ts'
import { anAccount, anOrder, numbers } from '../builders.ts'
import type { Contract } from './contract.ts'
import { movements } from './ledger/movements.ts'
import { refunds } from './ledger/refunds.ts'
import { transfers } from './ledger/transfers.ts'
import { assertLedger, callersMany, dispatchDue, inTenths } from './shared.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))
const stranger = anAccountId(2 ** 31 - 8)

/** What the port `Ledger` promises. */
export const ledgerContract: Contract<StoredPorts> = {
  ...movements,
  ...transfers,
  ...refunds,

  'a top-up adds what it says and returns the new balance; a correction takes away': async (ports) => {
    const { accounts, ledger } = ports
    const { id } = await anAccount(ports, { credits: 5 })
    assert.equal(await ledger.topUp(id, credits(100), 'invoice 7', now), 105)
    assert.equal(await ledger.topUp(id, credits(-104), `it's "wrong"`, now), 1)
    assert.equal(await ledger.topUp(id, credits(-1), 'all of it', now), 0)
    assert.equal(await ledger.topUp(id, credits(7), 'again', now), 7)
    assert.equal(await ledger.balance(id), 7)
    assert.equal((await accounts.find(id))?.balance, 7)
    await assertLedger(ports, 7)
  },

  'a top-up changes no other account': async (ports) => {
    const main = await anAccount(ports, { credits: 50 })
    const sub = await anAccount(ports, { parent: main.id, credits: 60 })
    await ports.ledger.topUp(sub.id, credits(5), 'sub', now)
    assert.equal(await ports.ledger.balance(main.id), 50)
    assert.equal(await ports.ledger.balance(sub.id), 65)
  },

  'an account that is not there has no balance and takes no credits': async (ports) => {
    assert.equal(await ports.ledger.balance(stranger), undefined)
    assert.equal(await ports.ledger.topUp(stranger, credits(10), 'nobody', now), 'no-such-account')
    assert.deepEqual(await ports.ledger.check(), { accounts: 0, balances: 0, differences: [] })
  },

  'what would make a balance negative is refused and leaves nothing behind': async (ports) => {
    const { id } = await anAccount(ports, { credits: 10 })
    assert.equal(await ports.ledger.topUp(id, credits(-11), 'too much', now), 'out-of-range')
    assert.equal(await ports.ledger.topUp(id, credits(Number.MIN_SAFE_INTEGER), 'far too much', now), 'out-of-range')
    assert.equal(await ports.ledger.balance(id), 10)
    await assertLedger(ports, 10)
  },

  'what would make a balance greater than credits can be is refused and leaves nothing behind': async (ports) => {
    const { id } = await anAccount(ports, { credits: 10 })
    assert.equal(await ports.ledger.topUp(id, credits(Number.MAX_SAFE_INTEGER), 'too much', now), 'out-of-range')
    assert.equal(await ports.ledger.topUp(id, credits(Number.MAX_SAFE_INTEGER - 9), 'by one', now), 'out-of-range')
    assert.equal(await ports.ledger.balance(id), 10)
    await assertLedger(ports, 10)
    assert.equal(
      await ports.ledger.topUp(id, credits(Number.MAX_SAFE_INTEGER - 10), 'just so', now),
      Number.MAX_SAFE_INTEGER,
    )
    await assertLedger(ports, Number.MAX_SAFE_INTEGER)
  },

  'corrections at the same time take exactly what is there, each balance is told once, and none is negative': async (
    ports,
  ) => {
    const { id } = await anAccount(ports, { credits: 10 })
    const results = await Promise.all(
      Array.from({ length: callersMany }, () => ports.ledger.topUp(id, credits(-1), 'race', now)),
    )
    const balances = results.filter((result) => typeof result === 'number')
    assert.deepEqual(inTenths(balances), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert.equal(results.filter((result) => result === 'out-of-range').length, callersMany - 10)
    await assertLedger(ports, 0)
  },

  'top-ups at the same time all count, and each tells the balance right after it': async (ports) => {
    const { id } = await anAccount(ports, { credits: 0 })
    const results = await Promise.all(
      Array.from({ length: callersMany }, () => ports.ledger.topUp(id, credits(3), 'race', now)),
    )
    const balances = results.filter((result) => typeof result === 'number')
    assert.deepEqual(
      inTenths(balances),
      Array.from({ length: callersMany }, (_, i) => (i + 1) * 3),
    )
    await assertLedger(ports, callersMany * 3)
  },

  'the check counts every account and adds up every balance, also of accounts without credits': async (ports) => {
    await anAccount(ports, { credits: 0 })
    await anAccount(ports, { credits: 40 })
    await anAccount(ports, { credits: 2, locked: true })
    assert.deepEqual(await ports.ledger.check(), { accounts: 3, balances: 42, differences: [] })
  },

  'the check finds no difference at any moment while messages are accepted and refunded and credits come and go':
    async (ports) => {
      const { messages, ledger } = ports
      const opened = await Promise.all([1, 2, 3].map(() => anAccount(ports, { credits: 300 })))
      let running = true
      const check = async () => {
        while (running) await assertLedger(ports)
      }
      const work = opened.flatMap(({ id }) =>
        Array.from({ length: 20 }, async (_, i) => {
          await messages.accept(anOrder(id, { to: numbers(4), costs: [3, 5, 7, 11] }))
          await ledger.topUp(id, credits(i % 2 === 0 ? 20 : -20), 'race', now)
          if (i % 5 === 0) await dispatchDue(ports, 'single', () => ({ outcome: i % 2 ? 'refused' : 'unknown' }))
        }),
      )
      const done = Promise.all(work).finally(() => (running = false))
      await Promise.all([done, check()])
      await assertLedger(ports)
    },
}
