import { startRest } from '../../../testing/start-rest.ts'

test('the list is 501 with the envelope in this version, after its offset and limit were checked', async () => {
  const rest = await startRest()
  const answer = await rest.get('/sms/scheduled?offset=0&limit=1000')
  expect(answer.status).toBe(501)
  expect(answer.body).toMatchObject({
    errorMessage: 'The list of scheduled messages is not available in this version.',
  })
  expect((await rest.get('/sms/scheduled?offset=-1')).status).toBe(422)
  expect((await rest.get('/sms/scheduled?limit=1001')).status).toBe(422)
  await rest.close()
})
