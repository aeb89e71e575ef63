import { memoryPorts } from '@gateway/core/testing'
import { holderAccess, type HolderCommand } from './access.ts'
import { createBackOffice } from './back-office.ts'
import { createGateway } from './gateway.ts'
import type { HolderRole } from './people/roles.ts'

async function setUp(userRole: HolderRole | undefined) {
  const role = userRole === 'onlooker' ? undefined : userRole
  const ports = memoryPorts()
  const [bare, backOffice] = [createGateway(ports), createBackOffice(ports)]
  const id = await backOffice.commands.openAccount({ login: 'acme' })
  const account = typeof id === 'string' ? undefined : (await ports.accounts.find(id))?.account
  if (account === undefined) throw new Error('no account')
  const email = 'ann@acme.example'
  const invited = role && (await bare.commands.inviteUser(account, { email, role }))
  const user = typeof invited === 'object' ? await ports.people.users.find(account.id, invited.id) : undefined
  const gateway = holderAccess(ports, bare).as({ account, user, role: userRole ?? 'owner' }, '192.0.2.7')
  const changes = async () =>
    (await backOffice.queries.listChanges({}, 100)).map(({ begun, ended }) => ({
      ...(JSON.parse(begun.record) as object),
      ...(JSON.parse(ended?.record ?? '{}') as object),
    }))
  return { ports, backOffice, account, gateway, changes }
}

const ofSenders = [
  'sendMessages',
  'draftBulkSend',
  'discardBulkSend',
  'startBulkSend',
  'stopBulkSend',
  'deleteScheduled',
  'addOptOut',
] as const
const ofOwners = ['transferCredits', 'issueKey', 'revokeKey', 'addWebhook', 'removeWebhook', 'testWebhook'] as const
const ofReaders = ['changePassword', 'setSecondFactor', 'endOtherSessions', 'removeSecondFactor'] as const
const ofPeople = ['inviteUser', 'renewUserLink', 'setUserRole', 'lockUser', 'removeUser', 'resetUserFactor'] as const

test.each<readonly [HolderRole, HolderCommand]>([
  ...[...ofSenders, ...ofOwners, ...ofPeople, ...ofReaders].map((name) => ['onlooker', name] as const),
  ...ofSenders.map((name) => ['reader', name] as const),
  ...[...ofOwners, ...ofPeople].flatMap((name) => [['reader', name] as const, ['sender', name] as const]),
])('a %s cannot %s, and nothing is recorded', async (role, name) => {
  const { gateway, changes } = await setUp(role)
  await expect((gateway.commands[name] as () => Promise<unknown>)()).rejects.toThrow(
    `the role ${role} may not call ${name}`,
  )
  expect(await changes()).toEqual([])
})

test('a change by a user is recorded with e-mail address, account, and values before and after', async () => {
  const { gateway, account, changes, ports } = await setUp('owner')
  const bob = await gateway.commands.inviteUser(account, { email: 'bob@acme.example', role: 'reader' })
  if (typeof bob === 'string') throw new Error(bob)
  await gateway.commands.setUserRole(account, bob.id, 'sender')
  const by = { by: 'user ann@acme.example', from: '192.0.2.7', account: account.id }
  expect(await changes()).toEqual([
    {
      ...{ ...by, action: 'setUserRole', given: { user: bob.id }, outcome: true },
      changed: { role: ['reader', 'sender'] },
    },
    {
      ...{ ...by, action: 'inviteUser', given: { email: 'bob@acme.example', role: 'reader' } },
      outcome: { user: bob.id },
    },
  ])
  expect(await ports.auditLog.check()).toMatchObject({ entries: 4, broken: undefined })
})

test('the log contains no key, link, password, text or complete number', async () => {
  const { gateway, account, changes, backOffice } = await setUp(undefined)
  const key = await gateway.commands.issueKey(account, { label: 'shop' })
  const invited = await gateway.commands.inviteUser(account, { email: 'bob@acme.example', role: 'reader' })
  const added = await gateway.commands.addWebhook(account, { url: 'https://me:hush@shop.example.com/?key=hush' })
  await gateway.commands.addOptOut(account, '27825550101' as never)
  await backOffice.commands.setPassword(account.id, 'correct horse')
  const pair = { user: 'acme', password: 'correct horse', network: '192.0.2.0/24', address: '192.0.2.7' }
  await gateway.commands.changePassword(pair, 'battery staple', { agent: '', address: '' })
  const recorded = await changes()
  expect(recorded).toHaveLength(5)
  expect(recorded).toContainEqual(expect.objectContaining({ action: 'changePassword', by: 'account acme' }))
  const secrets = [key, invited].map((made) =>
    typeof made === 'object' ? ('key' in made ? made.key : made.token) : '',
  )
  if (typeof added === 'string') throw new Error(added)
  for (const secret of [...secrets, added.secret, 'hush', '27825550101', 'correct', 'battery'])
    expect([secret, JSON.stringify(recorded).includes(secret)]).toEqual([secret, false])
})
