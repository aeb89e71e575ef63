import { strict as assert } from 'node:assert'
import { accountId, type Account, type StoredPorts } from '@gateway/core'
import { anAccount, anAddress } from '../builders.ts'
import type { Contract } from './contract.ts'

const [short, long] = [anAddress('40404'), anAddress('12025550199')]

const someAccounts = async (ports: StoredPorts, count: number): Promise<readonly Account[]> => {
  const accounts: Account[] = []
  for (let i = 0; i < count; i++) accounts.push(await anAccount(ports))
  return accounts
}

/** What the port `Senders` promises. */
export const sendersContract: Contract<StoredPorts> = {
  'a code belongs to one account at a time, which is seen with the account': async (ports) => {
    const [one, two] = [await anAccount(ports), await anAccount(ports)]
    assert.deepEqual(await ports.senders.assigned(), [])
    assert.equal(await ports.senders.assign(short, one.id), 'assigned')
    assert.equal(await ports.senders.assign(short, one.id), 'already')
    assert.equal(await ports.senders.assign(short, two.id), 'taken')
    assert.equal(await ports.senders.assign(long, one.id), 'assigned')
    assert.deepEqual((await ports.accounts.find(one.id))?.account.shortCodes, [short, long])
    assert.deepEqual((await ports.accounts.byLogin(one.login))?.account.shortCodes, [short, long])
    assert.deepEqual((await ports.accounts.find(two.id))?.account.shortCodes, [])
    assert.deepEqual(await ports.senders.assigned(), [
      { code: long, account: one.id },
      { code: short, account: one.id },
    ])
    assert.equal(await ports.senders.release(short), true)
    assert.equal(await ports.senders.release(short), false)
    assert.equal(await ports.senders.assign(short, two.id), 'assigned')
    assert.deepEqual((await ports.accounts.find(one.id))?.account.shortCodes, [long])
    assert.deepEqual((await ports.accounts.find(two.id))?.account.shortCodes, [short])
  },

  'a code cannot be given to an account that is not there': async (ports) => {
    assert.equal(await ports.senders.assign(short, accountId(99_999) ?? assert.fail()), 'no-such-account')
    assert.deepEqual(await ports.senders.assigned(), [])
    assert.equal(await ports.senders.release(long), false)
  },

  'of many who want a code one gets it': async (ports) => {
    const accounts = await someAccounts(ports, 8)
    const told = await Promise.all(accounts.map(({ id }) => ports.senders.assign(short, id)))
    assert.deepEqual(told.toSorted(), ['assigned', ...Array.from({ length: 7 }, () => 'taken')])
    assert.equal((await ports.senders.assigned()).length, 1)
  },
}
