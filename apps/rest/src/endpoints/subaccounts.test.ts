import { startRest } from '../../testing/start-rest.ts'

test('the list is 501 with the envelope in this version', async () => {
  const rest = await startRest()
  const answer = await rest.get('/subaccounts')
  expect(answer.status).toBe(501)
  expect(answer.body).toMatchObject({ errorMessage: 'The list of sub accounts is not available in this version.' })
  await rest.close()
})
