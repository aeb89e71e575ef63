import type { PushAnswer, PushRequest } from '@gateway/core/webhooks'
import { steppingClock, until } from '@gateway/core/testing'
import { createLog } from '@gateway/server'
import { callHeartbeat } from './call-heartbeat.ts'

const url = 'https://monitor.example.com/ping/secret-4711'
const answered = (status: number): PushAnswer => ({
  outcome: 'answered',
  status,
  retryAfterSeconds: undefined,
  beginning: '',
  milliseconds: 1,
})

/** Starts a heartbeat whose calls get these answers, one after another, and the last one for ever. */
function start(answers: readonly PushAnswer[]) {
  const requests: PushRequest[] = []
  const lines: string[] = []
  let reason: string | undefined
  const log = createLog({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } })
  const client = {
    push: (request: PushRequest) => {
      requests.push(request)
      return Promise.resolve(answers[Math.min(requests.length, answers.length) - 1] ?? answered(200))
    },
  }
  const unreadyReason = () => Promise.resolve(reason)
  const beating = callHeartbeat({ url, unreadyReason, client, clock: steppingClock(), log, pauseMilliseconds: 1 })
  return { requests, lines, beating, become: (to: string | undefined) => void (reason = to) }
}

test('a ready process calls the URL at once and again and again', async () => {
  const { requests, beating, lines } = start([answered(200)])
  await until(() => requests.length >= 3)
  await beating.stop()
  expect(requests[0]).toMatchObject({ url, secrets: [] })
  expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ ready: true })
  expect(lines).toEqual([])
})

test('a process that is not ready does not call the URL until it is ready again', async () => {
  const { requests, beating, become } = start([answered(200)])
  await until(() => requests.length >= 1)
  become('disk-full')
  await until(async () => {
    const before = requests.length
    await new Promise((resolve) => setImmediate(resolve))
    return requests.length === before
  })
  const before = requests.length
  become(undefined)
  await until(() => requests.length > before)
  await beating.stop()
})

test('failures are logged once, without the URL, and so is the next success', async () => {
  const failed: PushAnswer = { outcome: 'failed', failure: 'internal-address', milliseconds: 1 }
  const { requests, beating, lines } = start([answered(200), failed, answered(500), failed, answered(200)])
  await until(() => requests.length >= 6)
  await beating.stop()
  const entries = lines.map((line) => JSON.parse(line) as { msg: string; failure?: string })
  expect(entries.map(({ msg, failure }) => [msg, failure])).toEqual([
    ['the heartbeat was not accepted', 'internal-address'],
    ['the heartbeat is accepted again', undefined],
  ])
  expect(lines.join('')).not.toContain('4711')
})
