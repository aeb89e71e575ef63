import { anOperator, type Operator } from '../../testing/operate.ts'

const at = { network: '192.0.2.0/24', address: '192.0.2.7' }
const add = (name: string, role: string) => ['operator', 'add', name, '--role', role]

async function stored({ ports }: Operator, name: string) {
  const login = await ports.people.operators.byName(name)
  return login?.operator
}

test('an operator is added with a role and a password, and listed', async () => {
  const operator = anOperator()
  expect(await operator.run(add('Ann', 'support'), 'correct horse\n')).toMatchObject({
    code: 0,
    out: 'Operator Ann can sign in (support).\n',
  })
  const { password } = await operator.json<{ password: string }>(...add('bob', 'admin'), '--generate')
  expect(password.length).toBeGreaterThanOrEqual(16)
  expect(await operator.rows('operator', 'list')).toMatchObject([
    { name: 'Ann', role: 'support', locked: false },
    { name: 'bob', role: 'admin', locked: false },
  ])
})

test.each([
  [add('ANN', 'admin'), 'correct horse\n', 1, 'An operator with this name already exists.\n'],
  [add('a b', 'admin'), 'correct horse\n', 1, 'A name is 1 to 64 printable ASCII characters without spaces.\n'],
  [add('bob', 'admin'), 'too short\n', 1, 'A password has at least 10 characters.\n'],
  [['operator', 'lock', 'bob'], '', 1, 'There is no operator bob.\n'],
  [['operator', 'role', 'bob', 'admin'], '', 1, 'There is no operator bob.\n'],
])('%j is refused', async (args, typed, code, err) => {
  const operator = anOperator()
  await operator.run(add('ann', 'support'), 'correct horse\n')
  expect(await operator.run(args, typed)).toEqual({ code, out: '', err })
})

test('an invalid role is a usage error', async () => {
  const operator = anOperator()
  expect(await operator.run(add('bob', 'root'))).toMatchObject({ code: 2 })
  expect(await operator.run(['operator', 'add', 'bob'])).toMatchObject({ code: 2 })
})

test('a lock, another role and another password take effect at once', async () => {
  const operator = anOperator()
  await operator.run(add('ann', 'support'), 'correct horse\n')
  await operator.run(['operator', 'role', 'ANN', 'admin'])
  expect(await stored(operator, 'ann')).toMatchObject({ role: 'admin', locked: false })
  await operator.run(['operator', 'lock', 'ann'])
  expect(await stored(operator, 'ann')).toMatchObject({ locked: true })
  await operator.run(['operator', 'unlock', 'ann'])
  expect(await stored(operator, 'ann')).toMatchObject({ locked: false })
  await operator.run(['operator', 'password', 'ann'], 'battery staple\n')
  const checked = await operator.ports.secrets.checkPassword({
    ...{ login: 'ann', password: 'battery staple', ...at, now: operator.ports.clock.now() },
    ...{ mayUse: () => true, remembered: () => Promise.resolve(undefined) },
    stored: () => operator.ports.people.operators.byName('ann'),
  })
  expect(checked).toMatchObject({ operator: { name: 'ann' } })
  expect(await operator.rows('audit', 'list', '--action', 'setOperatorRole')).toMatchObject([
    { detail: { outcome: true, changed: { role: ['support', 'admin'] } } },
  ])
})
