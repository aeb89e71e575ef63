import { anOperator } from '../../testing/operate.ts'

const add = (email: string, role = 'sender') => ['account', 'user', 'add', '1', email, '--role', role]

async function withAccount() {
  const operator = anOperator()
  await operator.run(['account', 'open', '--login', 'acme'])
  return operator
}

test('a user is added by a link that sets a password once, and is listed', async () => {
  const operator = await withAccount()
  const added = await operator.run(add('Ann@acme.example'))
  expect(added.out).toMatch(
    /^Ann@acme.example is a user \(sender\). The link is \/invitation\?token=[\w-]{43} below the address of the portal\./,
  )
  const { link } = await operator.json<{ link: string }>('account', 'user', 'link', 'ann@acme.example')
  expect(link).toMatch(/^\/invitation\?token=/)
  expect(await operator.rows('account', 'user', 'list', '1')).toMatchObject([
    { account: 1, email: 'Ann@acme.example', role: 'sender', locked: false, hasPassword: false },
  ])
  const changes = JSON.stringify(await operator.rows('audit', 'list'))
  expect(changes).toContain('Ann@acme.example')
  expect(changes).not.toContain(link.split('=')[1])
})

test('a lock, another role and a removal take effect at once', async () => {
  const operator = await withAccount()
  await operator.run(add('ann@acme.example'))
  await operator.run(['account', 'user', 'lock', 'ANN@acme.example'])
  await operator.run(['account', 'user', 'role', 'ann@acme.example', 'owner'])
  expect((await operator.ports.people.users.byEmail('ann@acme.example'))?.user).toMatchObject({
    role: 'owner',
    locked: true,
  })
  expect(await operator.rows('audit', 'list', '--action', 'setUserRole')).toMatchObject([
    { detail: { outcome: true, changed: { role: ['sender', 'owner'] } } },
  ])
  expect(await operator.run(['account', 'user', 'remove', 'ann@acme.example'])).toMatchObject({ code: 0 })
  expect(await operator.rows('account', 'user', 'list', '1')).toEqual([])
})

test.each([
  [add('ann'), 1, 'The e-mail address must look like ann@acme.example.\n'],
  [add('BOB@acme.example'), 1, 'A user with this e-mail address already exists, in this account or another one.\n'],
  [['account', 'user', 'add', '9', 'a@acme.example', '--role', 'reader'], 1, 'There is no account 9.\n'],
  [['account', 'user', 'list', '9'], 1, 'There is no account 9.\n'],
  [['account', 'user', 'lock', 'ann@acme.example'], 1, 'There is no user ann@acme.example.\n'],
])('%j is refused', async (args, code, err) => {
  const operator = await withAccount()
  await operator.run(add('bob@acme.example'))
  expect(await operator.run(args)).toEqual({ code, out: '', err })
})
