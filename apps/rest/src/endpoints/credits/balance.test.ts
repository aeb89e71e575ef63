import { startRest } from '../../../testing/start-rest.ts'

test.each([
  [0, '0.0'],
  [5, '0.5'],
  [1000, '100.0'],
  [9_007_199_254_740_991, '900719925474099.1'],
])('a balance of %i tenths is written as the number %s', async (tenths, literal) => {
  const rest = await startRest({ account: { credits: tenths } })
  const answer = await rest.get('/credits/balance?anything=1')
  expect(answer.status).toBe(200)
  expect(answer.text.endsWith(`"statusCode":200,"creditBalance":${literal}}`)).toBe(true)
  await rest.close()
})
