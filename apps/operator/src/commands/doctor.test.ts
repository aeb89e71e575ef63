import { anOperator, soundSurroundings } from '../../testing/operate.ts'

test('doctor exits with 1 where anything is bad, and says what to do', async () => {
  const operator = anOperator()
  const { code, out, err } = await operator.run(['doctor', '--json'])
  expect([code, JSON.parse(err)]).toEqual([1, { error: 'Bad: dispatchers.' }])
  expect((JSON.parse(out) as { rows: readonly object[] }).rows).toContainEqual({
    about: 'dispatchers',
    state: 'bad',
    says: 'none runs: nothing is sent',
    advice: 'start a dispatcher',
  })
})

test('doctor exits with 0 where nothing is worse than a warning', async () => {
  const operator = anOperator({ surroundings: { ...soundSurroundings, clockOffsetSeconds: 5 } })
  await operator.ports.claimedBatches.register(600)
  const { code, out, err } = await operator.run(['doctor'])
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^warning +clock +this machine is 5.0 s ahead of the database +set both by NTP/m)
})
