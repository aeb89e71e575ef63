import { setTimeout as delay } from 'node:timers/promises'
import type { Asleep } from '@gateway/core/dispatch'
import { until } from '@gateway/core/testing'
import { createLog } from '@gateway/server'
import { Idling, pollDefaults, pollPause, type IdlingOptions, type PollSettings } from './idling.ts'

const log = createLog({ level: 'silent', name: 'test' })
const settings: PollSettings = { pauseMilliseconds: 2, pauseMillisecondsMax: 30, quietMilliseconds: 10 }
const nothingScheduled: Asleep = { nextDueMilliseconds: undefined }

/** Creates a store of sleepers that records each call as one word. It answers at once unless a test delays it. */
function scripted(answer: () => Promise<Asleep | 'deaf'> = () => Promise.resolve(nothingScheduled)) {
  const calls: string[] = []
  let wake = (): void => undefined
  const claimedBatches: IdlingOptions['claimedBatches'] = {
    sleeper: (wakeUp) => {
      wake = wakeUp
      return {
        sleep: () => {
          calls.push('sleep')
          return answer()
        },
        awake: () => Promise.resolve(void calls.push('awake')),
        close: () => Promise.resolve(void calls.push('close')),
      }
    },
  }
  return { claimedBatches, calls, wake: () => wake() }
}

const idlingOn = (
  claimedBatches: IdlingOptions['claimedBatches'],
  wake = (): void => undefined,
  more: Partial<PollSettings> = {},
): Idling => new Idling({ claimedBatches, settings: { ...settings, ...more }, log, wake })

const isAsleep = (idling: Idling): boolean => idling.pause() > settings.pauseMilliseconds

test('after a while without a claim a process falls asleep, and its pauses grow to the maximum', async () => {
  const { claimedBatches, calls } = scripted()
  const idling = idlingOn(claimedBatches)
  expect(idling.pause()).toBe(2)
  expect(calls).toEqual([])
  expect(idling.isSoundAsleep()).toBe(false)
  await until(() => idling.pause() === settings.pauseMillisecondsMax)
  expect(idling.isSoundAsleep()).toBe(true)
  expect(calls).toEqual(['sleep'])
  await idling.stop()
  expect(calls).toEqual(['sleep', 'close'])
})

test('a notification or a claim ends all pauses and the sleep', async () => {
  const { claimedBatches, calls, wake } = scripted()
  let woken = 0
  const idling = idlingOn(claimedBatches, () => woken++)
  for (const rouse of [wake, () => idling.stir()]) {
    await until(() => isAsleep(idling))
    const before = [woken, calls.length] as const
    rouse()
    expect(woken).toBeGreaterThan(before[0])
    expect(idling.pause()).toBe(settings.pauseMilliseconds)
    expect(calls.slice(before[1])).toEqual(['awake'])
  }
  await idling.stop()
})

test('a notification while falling asleep keeps the process awake', async () => {
  let fall = (_: Asleep): void => undefined
  let sleeps = 0
  const { claimedBatches, calls } = scripted(() =>
    ++sleeps > 1 ? Promise.resolve('deaf') : new Promise((resolve) => (fall = resolve)),
  )
  const idling = idlingOn(claimedBatches)
  await until(() => idling.pause() > 0 && calls.length === 1)
  await delay(1)
  idling.stir()
  fall(nothingScheduled)
  await until(() => calls.includes('awake'))
  expect(calls).toEqual(['sleep', 'awake'])
  expect(isAsleep(idling)).toBe(false)
  await idling.stop()
})

test.each([
  ['cannot be notified', () => Promise.resolve('deaf' as const)],
  ['could not say that it sleeps', () => Promise.reject(new Error('no database'))],
])('a process that %s polls as often as before, and tries again', async (_, answer) => {
  const { claimedBatches, calls } = scripted(answer)
  const idling = idlingOn(claimedBatches)
  await until(() => {
    expect(idling.pause()).toBe(settings.pauseMilliseconds)
    return calls.filter((one) => one === 'sleep').length >= 3
  })
  await idling.stop()
})

test('the pause between polls of the schedule ends when the next message becomes due', async () => {
  const { claimedBatches } = scripted(() => Promise.resolve({ nextDueMilliseconds: 5000 }))
  const idling = idlingOn(claimedBatches, undefined, { pauseMillisecondsMax: 3_600_000 })
  await until(() => isAsleep(idling))
  const pause = idling.pauseUntilDue(60_000)
  expect(pause).toBeGreaterThan(0)
  expect(pause).toBeLessThanOrEqual(5100)
  expect(idling.pauseUntilDue(10)).toBeLessThanOrEqual(5100)
  await idling.stop()
})

test('a process that is awake polls every 20 ms', () => {
  expect(pollPause(pollDefaults, undefined)).toBe(20)
})

test.each([
  [0, 20],
  [19, 20],
  [21, 21],
  [500, 500],
  [3000, 3000],
  [3_600_000, 3000],
])('after %p ms of sleep the pause is %p ms', (asleep, pause) => {
  expect(pollPause(pollDefaults, asleep)).toBe(pause)
})

test('work missed at the start of a sleep is found after at most twice the duration of the missed call plus a pause, or after the longest pause', () => {
  const settings = { pauseMilliseconds: 20, pauseMillisecondsMax: 1000, quietMilliseconds: 0 }
  const looks: number[] = []
  for (let at = 0; at < 20_000; at += pollPause(settings, at)) looks.push(at)
  for (let committed = 0; committed < 15_000; committed += 7) {
    const found = looks.find((at) => at >= committed) ?? Infinity
    expect(found).toBeLessThanOrEqual(Math.min(2 * committed + 20, committed + 1000))
  }
})
