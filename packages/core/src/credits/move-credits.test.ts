import { anAccount, memoryPorts } from '@gateway/core/testing'
import type { Account } from '../accounts/account.ts'
import { createGateway } from '../gateway.ts'
import type { Ledger } from './ledger.ts'
import type { TransferRefusal } from './move-credits.ts'

/** A main account, its sub accounts, two of which are locked, and another family. All have 50.0 credits. */
async function families() {
  const ports = memoryPorts()
  const open = (parent?: Account, locked = false) => anAccount(ports, { parent: parent?.id, locked, credits: 500 })
  const main = await open()
  const strangers = await open()
  const accounts = {
    main,
    sub: await open(main),
    sibling: await open(main),
    locked: await open(main, true),
    lockedToo: await open(main, true),
    strangers,
    strangersSub: await open(strangers),
  }
  const balances = async () => {
    const { main, sub, sibling } = accounts
    return Promise.all([main, sub, sibling].map(({ id }) => ports.ledger.balance(id)))
  }
  return { ports, gateway: createGateway(ports), accounts, balances }
}

type Name = keyof Awaited<ReturnType<typeof families>>['accounts']
type Row = readonly [from: Name | number, to: Name | number, quantity: number, result: 'done' | TransferRefusal]

const nobody = 4711
const noNumbers = [NaN, 0, -1, 1.5, 2 ** 31, Infinity, nobody]
const noQuantities = [NaN, 0, -0, -1, 0.5, 1.5, 1_000_000_000_001, Infinity, -Infinity]

/** Rows in order of precedence: each row also violates the rules of all later rows, as far as possible. */
const byMain: readonly Row[] = [
  ...noNumbers.map((from) => [from, NaN, NaN, 'invalid-from-account'] as const),
  ['strangers', 'strangers', 0, 'invalid-from-account'],
  ['strangersSub', 'locked', 0, 'invalid-from-account'],
  ...noNumbers.map((to) => ['locked', to, NaN, 'invalid-to-account'] as const),
  ['locked', 'strangers', 0, 'invalid-to-account'],
  ['main', 'strangersSub', 10, 'invalid-to-account'],
  ['locked', 'lockedToo', 0, 'from-account-locked'],
  ['locked', 'locked', 0, 'from-account-locked'],
  ['locked', 'main', 51, 'from-account-locked'],
  ['main', 'locked', 0, 'to-account-locked'],
  ['main', 'locked', 51, 'to-account-locked'],
  ['main', 'main', 0, 'same-account'],
  ['main', 'main', 51, 'same-account'],
  ['sub', 'sub', 10, 'same-account'],
  ...noQuantities.map((quantity) => ['main', 'sub', quantity, 'invalid-quantity'] as const),
  ['main', 'sub', 51, 'insufficient-credits'],
  ['sub', 'main', 1_000_000_000_000, 'insufficient-credits'],
]

async function transferAs(asker: Name, [from, to, quantity, result]: Row): Promise<void> {
  const { gateway, accounts, balances } = await families()
  const numberOf = (account: Name | number) => (typeof account === 'number' ? account : accounts[account].id)
  const request = { from: numberOf(from), to: numberOf(to), quantity }
  expect(await gateway.commands.transferCredits(accounts[asker], request)).toBe(result)
  if (result !== 'done') expect(await balances()).toEqual([500, 500, 500])
}

test.each(byMain)(
  'the first of several reasons against a transfer wins: from %s to %s of %s is refused as %s',
  (...row) => transferAs('main', row),
)

const bySub: readonly Row[] = [
  ['main', 'sub', 1, 'invalid-from-account'],
  ['sibling', 'sub', 1, 'invalid-from-account'],
  ['sibling', 'strangers', 0, 'invalid-from-account'],
  ['sub', 'strangers', 1, 'invalid-to-account'],
  ['sub', 'locked', 1, 'to-account-locked'],
  ['sub', 'sub', 1, 'same-account'],
  ['sub', 'main', 0, 'invalid-quantity'],
  ['sub', 'sibling', 51, 'insufficient-credits'],
  ['sub', 'main', 1, 'done'],
  ['sub', 'sibling', 1, 'done'],
]

test.each(bySub)('a sub account moves its own credits only, within the family: from %s to %s of %s is %s', (...row) =>
  transferAs('sub', row),
)

test('a main account moves whole credits from itself, to itself and between its sub accounts', async () => {
  const { gateway, accounts, balances } = await families()
  const { main, sub, sibling } = accounts
  expect(await gateway.commands.transferCredits(main, { from: main.id, to: sub.id, quantity: 50 })).toBe('done')
  expect(await balances()).toEqual([0, 1000, 500])
  expect(await gateway.commands.transferCredits(main, { from: sub.id, to: sibling.id, quantity: 7 })).toBe('done')
  expect(await balances()).toEqual([0, 930, 570])
  expect(await gateway.commands.transferCredits(main, { from: sibling.id, to: main.id, quantity: 1 })).toBe('done')
  expect(await balances()).toEqual([10, 930, 560])
})

test('a locked main account moves nothing, not even between its sub accounts (ruling 1.14)', async () => {
  const { ports, gateway, accounts, balances } = await families()
  const { sub, sibling, locked, strangers } = accounts
  await ports.accounts.setLocked(accounts.main.id, true)
  const main = { ...accounts.main, locked: true }
  const ask = (from: Account, to: Account) =>
    gateway.commands.transferCredits(main, { from: from.id, to: to.id, quantity: 1 })
  expect(await ask(sub, sibling)).toBe('from-account-locked')
  expect(await ask(sub, locked)).toBe('from-account-locked')
  expect(await ask(sub, main)).toBe('from-account-locked')
  expect(await ask(sub, strangers)).toBe('invalid-to-account')
  expect(await gateway.commands.transferCredits(sub, { from: sub.id, to: main.id, quantity: 1 })).toBe(
    'to-account-locked',
  )
  expect(await balances()).toEqual([500, 500, 500])
  expect(await gateway.commands.transferCredits(sub, { from: sub.id, to: sibling.id, quantity: 1 })).toBe('done')
})

test('a lock applies at once, also to a caller that logged in before', async () => {
  const { ports, gateway, accounts } = await families()
  const { main, sub } = accounts
  await ports.accounts.setLocked(main.id, true)
  expect(await gateway.commands.transferCredits(main, { from: main.id, to: sub.id, quantity: 1 })).toBe(
    'from-account-locked',
  )
})

test.each(['from-account-locked', 'to-account-locked', 'insufficient-credits', 'failed'] as const)(
  'what the store decides at the last moment is the answer: %s',
  async (decided) => {
    const { ports, accounts } = await families()
    const { main, sub } = accounts
    const ledger: Ledger = { ...ports.ledger, transfer: () => Promise.resolve(decided) }
    const gateway = createGateway({ ...ports, ledger })
    expect(await gateway.commands.transferCredits(main, { from: main.id, to: sub.id, quantity: 1 })).toBe(decided)
  },
)

test('if it is unknown whether credits moved, the call throws', async () => {
  const { ports, accounts } = await families()
  const { main, sub } = accounts
  const ledger: Ledger = { ...ports.ledger, transfer: () => Promise.reject(new Error('nobody knows')) }
  const gateway = createGateway({ ...ports, ledger })
  const request = { from: main.id, to: sub.id, quantity: 1 }
  await expect(gateway.commands.transferCredits(main, request)).rejects.toThrow('nobody knows')
})
