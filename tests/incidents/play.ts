import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import type { Incident } from './incidents.ts'
import { timesFaster } from './monitoring.ts'
import type { Stage } from './stage.ts'

/** Longest times of promise P-22 in seconds. */
const promised = { alarm: 120, end: 300 }
const ownSecondsByDefault = 8

export interface Played {
  readonly title: string
  /** Compressed seconds from the begin of the incident to its last alarm, and from its end to the end of all alarms. */
  readonly alarmSeconds: number
  readonly endSeconds: number
}

/**
 * Plays an incident: its alarms are notified in time, no other alarm is, and all of them end in time. Throws an Error
 * that names the difference. The limits are those of P-22, divided as the times of the rules, plus the seconds that the
 * gateway itself needs. That the times of the rules alone keep the promise is checked by `rules.test.ts`.
 */
export async function play(stage: Stage, incident: Incident): Promise<Played> {
  const { title, alarms, mayFollow = [], ownSeconds = ownSecondsByDefault, begin, end } = incident
  const { monitoring } = stage
  await quiet(stage, promised.end)
  monitoring.takeRaised()
  let from = performance.now()
  const elapsed = (): number => (performance.now() - from) / 1000
  let alarmSeconds: number
  try {
    await begin(stage)
    from = performance.now()
    alarmSeconds = await met(
      () => alarms.every((name) => monitoring.active().includes(name)),
      promised.alarm / timesFaster + ownSeconds,
      () => `${title}: ${alarms.join(', ')} expected, but only ${monitoring.active().join(', ') || 'none'} is on`,
    )
    // The incident lasts a while longer, so that alarms that do not belong to it are raised too.
    await delay((30 / timesFaster) * 1000)
  } finally {
    await end(stage)
    from = performance.now()
  }
  await quiet(stage, promised.end, ownSeconds, title)
  const endSeconds = elapsed()
  const others = monitoring.takeRaised().filter((name) => !alarms.includes(name) && !mayFollow.includes(name))
  if (others.length > 0) throw new Error(`${title}: ${others.join(', ')} was raised too`)
  return { title, alarmSeconds, endSeconds }
}

/** Waits until no alarm is on. */
const quiet = (stage: Stage, seconds: number, ownSeconds = 60, title = 'before the incident'): Promise<number> =>
  met(
    () => stage.monitoring.active().length === 0,
    seconds / timesFaster + ownSeconds,
    () => `${title}: ${stage.monitoring.active().join(', ')} does not end`,
  )

async function met(condition: () => boolean, seconds: number, describe: () => string): Promise<number> {
  const from = performance.now()
  await until(condition, seconds * 1000).catch(() => {
    throw new Error(`${describe()} after ${seconds.toFixed(1)} s`)
  })
  return (performance.now() - from) / 1000
}
