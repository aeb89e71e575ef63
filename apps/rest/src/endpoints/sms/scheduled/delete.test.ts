import { startRest } from '../../../../testing/start-rest.ts'

test('an array of ids is 501 with the envelope in this version, after it was checked', async () => {
  const rest = await startRest()
  const answer = await rest.post('/sms/scheduled/delete', [1, 1])
  expect(answer.status).toBe(501)
  expect(answer.body).toMatchObject({
    errorMessage: 'The deletion of scheduled messages is not available in this version.',
  })
  expect((await rest.post('/sms/scheduled/delete', [1, '1'])).status).toBe(422)
  await rest.close()
})
