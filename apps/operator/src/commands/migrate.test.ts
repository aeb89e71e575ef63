import { anOperator } from '../../testing/operate.ts'

test('migrate tells what it applied, and that there was nothing to do', async () => {
  const applied = [
    { version: 1, name: 'first' },
    { version: 2, name: 'second' },
  ]
  const fresh = anOperator({ migrate: () => Promise.resolve(applied) })
  expect(await fresh.json('migrate')).toEqual({
    applied: applied.map(({ version, name }) => ({ migration: version, name })),
  })
  expect((await fresh.run(['migrate'])).out).toBe('Applied 1 first.\nApplied 2 second.\n')

  const current = anOperator()
  expect(await current.json('migrate')).toEqual({ applied: [] })
  expect((await current.run(['migrate'])).out).toBe('The schema is up to date.\n')
})

test('every other command finds a schema that is up to date', async () => {
  let migrated = 0
  const operator = anOperator({ migrate: () => Promise.resolve((migrated++, [])) })
  await operator.run(['account', 'list'])
  expect(migrated).toBe(1)
})
