import { anOperator } from '../../testing/operate.ts'

test('database copy tells how much arrived where', async () => {
  const asked: string[] = []
  const operator = anOperator({
    copyTo: (to, progress) => {
      asked.push(to)
      progress('account', 2)
      return Promise.resolve([
        { table: 'account', rows: 2 },
        { table: 'send_p0', rows: 1 },
      ])
    },
  })
  expect(await operator.json('database', 'copy', '--to', 'postgres://me@db/x')).toEqual({
    copied: 3,
    tables: [
      { table: 'account', copied: 2 },
      { table: 'send_p0', copied: 1 },
    ],
  })
  expect((await operator.run(['database', 'copy', '--to', 'postgres://me@db/x'])).out).toMatch(
    /^3 rows of 2 tables copied; .*\nStart every process with DATABASE_URL/,
  )
  expect(asked).toEqual(['postgres://me@db/x', 'postgres://me@db/x'])
})

test('database copy fails with what is in the way, and without a target is called wrongly', async () => {
  const operator = anOperator({ copyTo: () => Promise.reject(new Error('the target is not empty')) })
  expect(await operator.run(['database', 'copy', '--to', 'postgres://me@db/x'])).toMatchObject({
    code: 3,
    err: 'the target is not empty\n',
  })
  expect((await operator.run(['database', 'copy'])).code).toBe(2)
})
