import { setImmediate } from 'node:timers/promises'
import { runningRequests } from './running-requests.ts'

test('the end is that of the last request', async () => {
  const requests = runningRequests()
  await requests.ended(60)
  requests.begin()
  requests.begin()
  let ended = false
  const waiting = requests.ended(60).then(() => (ended = true))
  requests.end()
  await setImmediate()
  expect(ended).toBe(false)
  requests.end()
  await waiting
  expect(ended).toBe(true)
})

test('what does not end is not waited for longer than is said', async () => {
  const requests = runningRequests()
  requests.begin()
  await requests.ended(0.01)
})
