import { startAsp } from '../../testing/start-asp.ts'

test.each([
  [0, '0'],
  [4, '0'],
  [5, '1'],
  [25, '3'],
  [1004, '100'],
  [1005, '101'],
])('%i tenths are %s whole credits, rounded half up', async (tenths, whole) => {
  const asp = await startAsp({ account: { credits: tenths } })
  expect((await asp.get('credits.asp')).text).toBe(`Credits=${whole}`)
  await asp.close()
})
