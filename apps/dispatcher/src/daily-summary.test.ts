import { gatewayDay } from '@gateway/core/time'
import { OUTCOME, type DailySums } from '@gateway/core/messages'
import type { PushAnswer, PushRequest } from '@gateway/core/webhooks'
import { memoryPorts, steppingClock, until } from '@gateway/core/testing'
import { createLog } from '@gateway/server'
import { sendDailySummary } from './daily-summary.ts'

const place = { host: 'alpha', pid: 7 }
const answered = (status: number): PushAnswer => ({
  outcome: 'answered',
  status,
  retryAfterSeconds: undefined,
  beginning: '',
  milliseconds: 1,
})

/** Starts a process that sends summaries. `first` is the dispatcher that was registered before all others. */
async function start({ first = place, status = 200 } = {}) {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  await ports.claimedBatches.register(1e9, '0.0.0', first)
  const requests: PushRequest[] = []
  let looks = 0
  const overview = { ...ports.overview, dispatchers: () => (looks++, ports.overview.dispatchers()) }
  const lines: string[] = []
  const log = createLog({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } })
  const today = gatewayDay(clock.now())
  const byCarrier: DailySums['byCarrier'] = (from) =>
    Promise.resolve([
      { carrier: undefined, code: OUTCOME.delivered, messages: from <= today ? 50 : 8 },
      { carrier: undefined, code: OUTCOME.refused, messages: from <= today ? 3 : 0 },
    ])
  const webhookClient = {
    push: (request: PushRequest) => {
      requests.push(request)
      return Promise.resolve(answered(status))
    },
  }
  const reporting = sendDailySummary({
    url: 'https://chat.example.com/hook',
    ports: { ...ports, overview, dailySums: { byCarrier }, webhookClient },
    place,
    log,
    pauseMilliseconds: 1,
  })
  await reporting.ranOnce
  return { clock, requests, lines, reporting, looks: () => looks }
}

const daySeconds = 86_400

test('the summary of a day is sent once, in the morning of the next day', async () => {
  const { clock, requests, reporting } = await start()
  expect(requests).toEqual([])
  clock.step(daySeconds)
  await until(() => requests.length > 0)
  const [request] = requests
  const body = JSON.parse(request?.body ?? '') as { text: string; date: string; messages: object; waiting: object }
  expect(body).toMatchObject({
    messages: { delivered: 42, refused: 3, unknown: 0 },
    waiting: { due: 0, oldestSeconds: 0 },
  })
  expect(body.text).toBe(
    `SMS of ${body.date}: 42 delivered, 0 without receipt, 0 unknown, 3 refused, 0 expired, 0 not delivered; 0 due now.`,
  )
  expect(request?.id).toBe(`summary-${body.date}`)
  clock.step(daySeconds)
  await until(() => requests.length === 2)
  expect(requests[1]?.id).not.toBe(request?.id)
  await reporting.stop()
})

test('only the process that was registered first sends the summary', async () => {
  const { clock, requests, reporting, looks } = await start({ first: { host: 'beta', pid: 7 } })
  clock.step(daySeconds)
  await until(() => looks() > 0)
  await reporting.stop()
  expect(requests).toEqual([])
})

test('a summary that is refused is tried ten times, and then dropped with a line in the log', async () => {
  const { clock, requests, lines, reporting } = await start({ status: 500 })
  clock.step(daySeconds)
  await until(() => lines.length > 0)
  await reporting.stop()
  expect(requests).toHaveLength(10)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    msg: 'the daily summary was dropped after ten failed attempts',
    failure: 'HTTP 500',
  })
})
