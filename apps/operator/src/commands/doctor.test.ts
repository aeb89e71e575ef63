import { anOperator, soundSurroundings } from '../../testing/operate.ts'

test('doctor exits with 1 if a finding is bad, and gives advice', async () => {
  const operator = anOperator()
  const { code, out, err } = await operator.run(['doctor', '--json'])
  expect([code, JSON.parse(err)]).toEqual([1, { error: 'Bad: dispatchers.' }])
  expect((JSON.parse(out) as { rows: readonly object[] }).rows).toContainEqual({
    about: 'dispatchers',
    state: 'bad',
    says: 'no dispatcher runs: nothing is sent',
    advice: 'start a dispatcher',
  })
})

test.each([
  [
    'cannot be reached',
    Promise.reject(new Error('The database cannot be reached:\nno.')),
    'The database cannot be reached: no.',
  ],
  ['does not answer', new Promise<void>(() => undefined), 'The database does not answer within 0.5 s'],
])('doctor reports that a database %s, with advice', async (_, opening, says) => {
  opening.catch(() => undefined)
  const { code, out } = await anOperator({ opening }).run(['doctor', '--json'])
  expect(code).toBe(1)
  expect((JSON.parse(out) as { rows: readonly object[] }).rows).toEqual([
    { about: 'database', state: 'bad', says, advice: expect.stringMatching(/^nothing is accepted/) as string },
  ])
})

test('doctor exits with 0 if no finding is worse than a warning', async () => {
  const operator = anOperator({ surroundings: { ...soundSurroundings, clockOffsetSeconds: 5 } })
  await operator.ports.claimedBatches.register(600)
  const { code, out, err } = await operator.run(['doctor'])
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^warning +clock +this machine is 5.0 s ahead of the database +synchronize both clocks by NTP/m)
})
