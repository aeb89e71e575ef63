import type { Log } from '@gateway/server'
import { coalescedTimeout } from './coalesced-timeout.ts'
import { outageOf } from './outage.ts'

export interface Repeated {
  /** Ends the present pause. */
  wake(): void
  /** Runs no more; resolves when what runs has ended. */
  stop(): Promise<void>
}

export interface Repeating {
  readonly what: string
  /** At most; a pause of a second or more may be a quarter shorter. A function is asked before each pause. */
  readonly pauseMilliseconds: number | (() => number)
  readonly log: Log
  /** 'more': again at once. */
  readonly work: () => Promise<'more' | 'all' | 'end'>
}

const backOffMilliseconds = 500
/** So that what is due leaves within 5 s of the return of a database, however long it was away (P-17). */
const backOffMillisecondsMax = 2000

/** Works, pauses, and works again, never twice at a time. After a failure the pauses grow to two seconds. */
export function repeat({ what, pauseMilliseconds, log, work }: Repeating): Repeated {
  const outage = outageOf(what, log)
  let stopped = false
  let wake = (): void => undefined
  let backOff = 0

  const pause = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel = coalescedTimeout(resolve, milliseconds)
      wake = () => {
        cancel()
        resolve()
      }
    })

  async function once(): Promise<'more' | 'all' | 'end'> {
    try {
      const done = await work()
      backOff = 0
      if (done !== 'end') outage.worked()
      return done
    } catch (problem) {
      backOff = Math.min(backOff === 0 ? backOffMilliseconds : backOff * 2, backOffMillisecondsMax)
      if (!stopped) outage.failed(problem)
      return 'all'
    }
  }

  const isStopped = (): boolean => stopped

  const pauseWanted = (): number => (typeof pauseMilliseconds === 'number' ? pauseMilliseconds : pauseMilliseconds())

  async function run(): Promise<void> {
    while (!isStopped()) {
      const done = await once()
      if (done === 'end') return
      if (done === 'all' && !isStopped()) await pause(Math.max(pauseWanted(), backOff))
    }
  }

  const ended = run()
  return {
    wake: () => {
      if (backOff === 0) wake()
    },
    stop: () => {
      stopped = true
      wake()
      return ended
    },
  }
}
