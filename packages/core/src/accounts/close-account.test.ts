import { anAccount, aNumber, memoryPorts, numbers, steppingClock } from '@gateway/core/testing'
import { createBackOffice } from '../back-office.ts'
import { createGateway } from '../gateway.ts'
import type { Messages } from '../messages/messages.ts'
import type { SenderAddress } from '../messages/msisdn.ts'
import { secondsAfter } from '../time/instant.ts'
import type { Account } from './account.ts'
import type { PasswordHash } from '../people/secrets.ts'

const code = '31022' as SenderAddress

function setUp() {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const backOffice = createBackOffice(ports)
  const gateway = createGateway(ports)
  const schedule = (by: Account, count: number) =>
    gateway.commands.sendMessages(by, [
      { text: 'later', recipients: numbers(count), scheduled: secondsAfter(clock.now(), 86_400) },
    ])
  return { ports, backOffice, gateway, schedule }
}

const nothing = {
  keysRevoked: 0,
  codesReleased: 0,
  messagesDeleted: 0,
  refunded: 0,
  webhooksRemoved: 0,
  smppCredentialsRemoved: 0,
  writtenOff: 0,
}

test('a closed account is locked, has no valid credentials, and its scheduled messages are deleted and refunded', async () => {
  const { ports, backOffice, gateway, schedule } = setUp()
  const account = await anAccount(ports, { credits: 30_000, password: 'hash' as PasswordHash })
  const issued = await backOffice.commands.issueApiKey(account.id, { label: 'crm' })
  if (typeof issued === 'string') throw new Error(issued)
  await backOffice.commands.assignShortCode(code, account.id)
  await backOffice.commands.addWebhook(account.id, { url: 'https://receiver.invalid/events' })
  for (let count = 0; count < 2; count++) await backOffice.commands.addSmppCredential(account.id)
  await schedule(account, 1500)
  expect(await backOffice.commands.closeAccount(account.id)).toEqual({
    keysRevoked: 1,
    codesReleased: 1,
    messagesDeleted: 1500,
    refunded: 15_000,
    webhooksRemoved: 1,
    smppCredentialsRemoved: 2,
    writtenOff: 0,
    balance: 30_000,
  })
  expect((await backOffice.queries.findAccount(account.id))?.account).toMatchObject({ locked: true, shortCodes: [] })
  expect(await gateway.commands.authenticate({ apiKey: issued.key, network: '', comesFrom: () => true })).toBe(
    'wrong-credentials',
  )
  expect((await ports.accounts.byLogin(account.login))?.password).toBeUndefined()
  expect((await gateway.queries.listScheduled(account, { offset: 0, limit: 1 })).total).toBe(0)
  expect(await backOffice.queries.listWebhooks(account.id)).toEqual([])
  expect(await backOffice.queries.listSmppCredentials(account.id)).toEqual([])
  // Closing again finds nothing more to do, and may write off the balance.
  expect(await backOffice.commands.closeAccount(account.id)).toEqual({ ...nothing, balance: 30_000 })
  expect(await backOffice.commands.closeAccount(account.id, ' ended ')).toEqual({
    ...nothing,
    writtenOff: 30_000,
    balance: 0,
  })
  expect(await backOffice.queries.verifyLedger()).toMatchObject({ balances: 0, differences: [] })
})

test('a message that is claimed while the account is closed stays with its dispatcher', async () => {
  const { ports, backOffice, schedule } = setUp()
  const account = await anAccount(ports, { credits: 100 })
  await schedule(account, 3)
  const claimed: Messages['deleteScheduled'] = async (by, ids, since) => [
    { outcome: 'sent', number: aNumber() },
    ...(await ports.messages.deleteScheduled(by, ids.slice(1), since)),
  ]
  const closing = createBackOffice({ ...ports, messages: { ...ports.messages, deleteScheduled: claimed } })
  expect(await closing.commands.closeAccount(account.id)).toMatchObject({
    messagesDeleted: 2,
    refunded: 20,
    balance: 90,
  })
  expect(await backOffice.commands.closeAccount(account.id)).toMatchObject({ messagesDeleted: 1, balance: 100 })
})

test('closing needs locked sub accounts, an existing account, and a reason if credits are written off', async () => {
  const { ports, backOffice } = setUp()
  const main = await anAccount(ports)
  const sub = await anAccount(ports, { parent: main.id })
  expect(await backOffice.commands.closeAccount(main.id)).toBe('has-open-sub-accounts')
  expect((await backOffice.queries.findAccount(main.id))?.account.locked).toBe(false)
  expect(await backOffice.commands.closeAccount(sub.id, '  ')).toBe('no-reason')
  expect(await backOffice.commands.closeAccount(sub.id)).toMatchObject(nothing)
  expect(await backOffice.commands.closeAccount(main.id)).toMatchObject(nothing)
  expect(await backOffice.commands.closeAccount((sub.id + 1) as typeof sub.id)).toBe('no-such-account')
})

test('a main account lists its sub accounts with their present balances; a sub account and another account see none', async () => {
  const ports = memoryPorts()
  const gateway = createGateway(ports)
  const [main, stranger] = [await anAccount(ports), await anAccount(ports)]
  const sub = await anAccount(ports, { parent: main.id, credits: 30 })
  const locked = await anAccount(ports, { parent: main.id, credits: 0, locked: true })
  expect(await gateway.queries.listSubAccounts(main)).toEqual([
    { account: sub, balance: 30 },
    { account: locked, balance: 0 },
  ])
  await gateway.commands.transferCredits(main, { from: main.id, to: sub.id, quantity: 7 })
  expect((await gateway.queries.listSubAccounts({ ...main, locked: true }))[0]?.balance).toBe(100)
  expect(await gateway.queries.listSubAccounts(sub)).toEqual([])
  expect(await gateway.queries.listSubAccounts(stranger)).toEqual([])
})
