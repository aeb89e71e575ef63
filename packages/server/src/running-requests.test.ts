import { setImmediate } from 'node:timers/promises'
import { runningRequests } from './running-requests.ts'

test('the end is that of the last request, whether it succeeds or fails', async () => {
  const requests = runningRequests()
  await requests.ended(60)
  let finish = (_text: string): void => undefined
  let fail = (_problem: Error): void => undefined
  const done = [
    requests.run(() => new Promise<string>((resolve) => (finish = resolve))),
    requests.run(() => new Promise<string>((_, reject) => (fail = reject))),
  ]
  let ended = false
  const waiting = requests.ended(60).then(() => (ended = true))
  finish('done')
  expect(await done[0]).toBe('done')
  await setImmediate()
  expect(ended).toBe(false)
  fail(new Error('hard luck'))
  await expect(done[1]).rejects.toThrow('hard luck')
  await waiting
  expect(ended).toBe(true)
})

test('what does not end is not waited for longer than is said', async () => {
  const requests = runningRequests()
  void requests.run(() => new Promise(() => undefined))
  await requests.ended(0.01)
})
