import { anAccount, anAccountId, memoryPorts, steppingClock } from '@gateway/core/testing'
import { createBackOffice } from '../back-office.ts'
import { createGateway } from '../gateway.ts'
import { readIdempotencyKey } from '../client-requests/client-requests.ts'
import { gatewayDefaults } from '../settings.ts'
import { busiestAccountsMax, createBusyAccounts } from './account-rates.ts'
import type { AccountId } from './account.ts'

async function watched() {
  const ports = memoryPorts({ clock: steppingClock() })
  const requests: AccountId[] = []
  const messages: (readonly [AccountId, number])[] = []
  const gateway = createGateway(ports, {
    ...gatewayDefaults,
    activity: {
      requested: (account) => void requests.push(account),
      accepted: (account, count) => void messages.push([account, count]),
    },
  })
  const account = await anAccount(ports, { credits: 30 })
  return { ports, requests, messages, gateway, account, backOffice: createBackOffice(ports) }
}

test('requests with valid credentials count, also over the rate limit; requests with wrong ones do not', async () => {
  const { requests, gateway, account, backOffice } = await watched()
  const issued = await backOffice.commands.issueApiKey(account.id)
  if (typeof issued === 'string') throw new Error(issued)
  await backOffice.commands.changeAccount(account.id, { requestsPerSecond: 1 })
  const ask = (apiKey: string) => gateway.commands.authenticate({ apiKey, network: '' })
  expect(await ask(issued.key)).toMatchObject({ id: account.id })
  expect(await ask(issued.key)).toEqual({ overLimitSeconds: 1 })
  expect(await ask('wrong')).toBe('wrong-credentials')
  expect(requests).toEqual([account.id, account.id])
})

test('accepted messages count, once for a repeated request; refused messages do not count', async () => {
  const { messages, gateway, account } = await watched()
  const again = readIdempotencyKey('again')
  if (again === undefined || again === 'unusable') throw new Error('no key')
  const send = (recipients: readonly string[], key?: typeof again) =>
    gateway.commands.sendMessages(account, [{ text: 'hi', recipients }], key)
  await send(['27820000001', 'none'])
  await send(['none'])
  await send(['27820000001'], again)
  await send(['27820000001'], again)
  await send(['27820000001', '27820000002', '27820000003'])
  expect(messages).toEqual([
    [account.id, 1],
    [account.id, 1],
    [account.id, 1],
  ])
})

const [one, two, three] = [anAccountId(1), anAccountId(2), anAccountId(3)]

test('the activity of a period is reported per second, once the period has ended', () => {
  const busy = createBusyAccounts()
  busy.activity.requested(one)
  busy.activity.requested(one)
  busy.activity.accepted(one, 500)
  busy.activity.requested(two)
  expect(busy.last()).toEqual([])
  expect(busy.endPeriod(10)).toBe(true)
  expect(busy.last()).toEqual([
    { account: one, requests: 0.2, messages: 50 },
    { account: two, requests: 0.1, messages: 0 },
  ])
  expect(busy.endPeriod(10)).toBe(true)
  expect(busy.last()).toEqual([])
})

test('recent activity covers the last six periods, and at least a minute', () => {
  const busy = createBusyAccounts()
  for (let period = 0; period < 7; period++) {
    busy.activity.accepted(one, period === 0 ? 6000 : 60)
    busy.endPeriod(period === 6 ? 40 : 10)
    if (period === 0) expect(busy.lately('messages').busiest).toEqual([{ account: one, requests: 0, messages: 100 }])
  }
  // Six periods with 60 messages each, in 90 seconds.
  expect(busy.lately('messages')).toEqual({ busiest: [{ account: one, requests: 0, messages: 4 }], others: 0 })
  expect(busy.lately('requests')).toEqual({ busiest: [], others: 0 })
})

test('the busiest accounts are limited, by requests and by messages, and the others are summed', () => {
  const busy = createBusyAccounts()
  const accounts = Array.from({ length: 3 * busiestAccountsMax }, (_, i) => anAccountId(i + 1))
  for (const [i, account] of accounts.entries()) {
    for (let request = 0; request <= i; request++) busy.activity.requested(account)
    busy.activity.accepted(account, accounts.length - i)
  }
  busy.endPeriod(60)
  const ids = busy.last().map(({ account }) => account)
  expect(ids).toHaveLength(2 * busiestAccountsMax)
  expect(new Set(ids)).toEqual(
    new Set([...accounts.slice(0, busiestAccountsMax), ...accounts.slice(-busiestAccountsMax)]),
  )
  const { busiest, others } = busy.lately('requests')
  expect(busiest.map(({ account }) => account)).toEqual(accounts.slice(-busiestAccountsMax).reverse())
  const requests = accounts.slice(0, -busiestAccountsMax).reduce((sum, _, i) => sum + i + 1, 0)
  expect(others).toBeCloseTo(requests / 60, 6)
})

test('the first activity after six idle periods is reported as a beginning', () => {
  let begun = 0
  const busy = createBusyAccounts(() => begun++)
  busy.activity.requested(one)
  busy.activity.requested(two)
  busy.activity.accepted(three, 1)
  expect(begun).toBe(1)
  for (let period = 0; period < 6; period++) expect(busy.endPeriod(10)).toBe(true)
  expect(busy.endPeriod(10)).toBe(false)
  expect(begun).toBe(1)
  busy.activity.requested(two)
  expect(begun).toBe(2)
})
