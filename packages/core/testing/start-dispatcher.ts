import { strict as assert } from 'node:assert'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  createDispatcher,
  dispatcherDefaults,
  type CarrierMode,
  type Dispatcher,
  type DispatcherSettings,
  type Lane,
  type RouteTurns,
} from '@gateway/core/dispatch'
import { holdable } from '@gateway/core/fleet'
import type { Clock } from '@gateway/core/time'
import type { Disturb, DispatchWorld } from './dispatch-world.ts'
import { scriptedCarrier, type ScriptedCarrier, type ScriptedCarrierOptions } from './memory/scripted-carrier.ts'

export interface StartedDispatcher {
  readonly dispatcher: Dispatcher
  readonly carrier: ScriptedCarrier
  readonly problems: unknown[]
  readonly setMode: (mode: CarrierMode) => void
  /** As if its process were gone: it is called no more, and none of its calls arrives. */
  kill(): void
}

export interface DispatcherOptions extends ScriptedCarrierOptions {
  readonly settings?: Partial<DispatcherSettings>
  /** Default: running. */
  readonly mode?: CarrierMode
  readonly disturb?: Disturb
  /** Of its process. Default: that of the store. */
  readonly clock?: Clock
  /** Shared by those of one process. Default: without routes. */
  readonly turns?: RouteTurns
  /** Whether its lease is renewed other than by claims. Default true. */
  readonly beats?: boolean
}

const started: (StartedDispatcher & { readonly world: DispatchWorld })[] = []

/** A dispatcher whose owner calls it all the time. */
export function startDispatcher(world: DispatchWorld, options: DispatcherOptions = {}): StartedDispatcher {
  const settings = { ...dispatcherDefaults, ...options.settings }
  const ports = world.disturbed(options.disturb ?? (() => undefined), settings.inDoubtMax)
  const carrier = scriptedCarrier(options)
  const problems: unknown[] = []
  const report = (problem: unknown): void => void problems.push(problem)
  const held = holdable(world.watched(carrier))
  held.setMode(options.mode ?? 'running')
  const dispatcher = createDispatcher(
    { ...ports, clock: options.clock ?? world.clock, later: (_, call) => void setImmediate(call) },
    held.carrier,
    report,
    settings,
    undefined,
    options.turns,
  )
  let killed = false
  const isKilled = (): boolean => killed

  const work = async (lane: Lane): Promise<void> => {
    while (!isKilled()) {
      const worked = await dispatcher.work(lane).catch(report)
      if (worked === 'closed') return
      if (worked !== 'claimed') await nextTurn()
      const { inDoubt } = dispatcher.state()
      if (inDoubt > settings.inDoubtMax) world.violations.push(`the dispatcher counts ${inDoubt} in doubt`)
    }
  }
  const care = async (): Promise<void> => {
    while (!isKilled()) {
      dispatcher.retry()
      if (options.beats !== false) await dispatcher.beat().catch(report)
      await nextTurn()
    }
  }
  void work('single')
  void work('bulk')
  void care()

  const kill = (): void => {
    killed = true
    ports.cut()
  }
  const one = { dispatcher, carrier, problems, setMode: (mode: CarrierMode) => held.setMode(mode), kill }
  started.push({ ...one, world })
  return one
}

/**
 * Ends all that were started, and their carriers, which would offer receipts for ever. Throws if any did what must
 * never happen.
 */
export async function endDispatchers(): Promise<void> {
  const ended = started.splice(0)
  for (const one of ended) one.kill()
  await Promise.all(ended.map(({ carrier }) => carrier.close(Promise.resolve())))
  assert.deepEqual([...new Set(ended.flatMap(({ world }) => world.violations))], [])
}
