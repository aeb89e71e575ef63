import { memoryPorts } from '@gateway/core/testing'
import { operatorAccess, type OperatorCommand } from './access.ts'
import { createBackOffice } from './back-office.ts'
import type { OperatorRole } from './people/operators.ts'

const actor = { by: 'ann', from: '192.0.2.7' }

async function worldOf(role: OperatorRole) {
  const ports = memoryPorts()
  const bare = createBackOffice(ports)
  const account = await bare.commands.openAccount({ login: 'acme' })
  if (typeof account === 'string') throw new Error(account)
  return { ports, account, backOffice: operatorAccess(ports).as({ name: actor.by, role }, actor.from) }
}

test.each([
  'openAccount',
  'changeAccount',
  'closeAccount',
  'setPassword',
  'issueApiKey',
  'topUp',
  'refundMessage',
  'cancelMessage',
  'setPrice',
  'removePrice',
  'addOperator',
  'setOperatorRole',
  'setOperatorPassword',
  'eraseNumber',
  'addWebhook',
] as const satisfies readonly OperatorCommand[])('support cannot %s, and nothing is recorded', async (name) => {
  const { backOffice } = await worldOf('support')
  await expect((backOffice.commands[name] as () => Promise<unknown>)()).rejects.toThrow(/the role support may not call/)
  expect(await backOffice.queries.listChanges({}, 10)).toEqual([])
})

test('support locks accounts and reads everything, and is recorded as the actor of the lock', async () => {
  const { backOffice, account } = await worldOf('support')
  expect(await backOffice.commands.lockAccount(account)).toBe('locked')
  expect((await backOffice.queries.findAccount(account))?.account.locked).toBe(true)
  const [change] = await backOffice.queries.listChanges({}, 10)
  expect(JSON.parse(change?.begun.record ?? '')).toMatchObject({ ...actor, action: 'lockAccount', account })
  expect(JSON.parse(change?.ended?.record ?? '')).toEqual({ outcome: 'locked', changed: { locked: [false, true] } })
})

test('a change to the present values is recorded as one that changed nothing', async () => {
  const { backOffice, account } = await worldOf('admin')
  for (const surname of ['Smith', 'Smith']) await backOffice.commands.changeAccount(account, { surname })
  const changes = await backOffice.queries.listChanges({}, 2)
  expect(changes.map(({ ended }) => JSON.parse(ended?.record ?? '') as unknown)).toEqual([
    { outcome: 'nothing-changed' },
    { outcome: 'changed', changed: { surname: ['', 'Smith'] } },
  ])
})

test('a change that throws is recorded as failed', async () => {
  const { backOffice, ports, account } = await worldOf('admin')
  const broken = { ...ports, ledger: { ...ports.ledger, topUp: () => Promise.reject(new Error('no room')) } }
  const failing = operatorAccess(broken).as({ name: actor.by, role: 'admin' }, actor.from)
  await expect(failing.commands.topUp(account, 5 as never, 'why')).rejects.toThrow('no room')
  const [change] = await backOffice.queries.listChanges({}, 1)
  expect(JSON.parse(change?.ended?.record ?? '')).toEqual({ outcome: 'failed: no room' })
})

test.each([
  ['https://shop.example.com/events', 'https://shop.example.com/events'],
  ['https://shop.example.com:8443/e?key=secret#secret', 'https://shop.example.com:8443/e?…'],
  ['https://secret:secret@shop.example.com/e@f', 'https://shop.example.com/e@f'],
  ['HTTPS://secret@a@shop.example.com?secret/@', 'HTTPS://shop.example.com?…'],
])('of the webhook URL %s the log contains only %s', async (url, recorded) => {
  const { backOffice, account } = await worldOf('admin')
  const added = await backOffice.commands.addWebhook(account, { url })
  if (typeof added === 'string') throw new Error(added)
  await backOffice.commands.changeWebhook(added.webhook.id, { url: 'https://other.example.com/?secret' })
  const records = (await backOffice.queries.listChanges({}, 10)).flatMap(({ begun, ended }) => [
    begun.record,
    ended?.record,
  ])
  expect(JSON.stringify(records)).not.toContain('secret')
  expect(JSON.parse(records.at(-2) ?? '')).toMatchObject({ given: { url: recorded } })
  expect(JSON.parse(records[1] ?? '')).toMatchObject({ changed: { url: [recorded, 'https://other.example.com/?…'] } })
})
