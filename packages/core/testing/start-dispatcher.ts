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
  /** Kills the dispatcher: it is not called any more, and its outstanding calls do not reach the store. */
  kill(): void
}

export interface DispatcherOptions extends ScriptedCarrierOptions {
  readonly settings?: Partial<DispatcherSettings>
  /** Mode of the carrier, by default running. */
  readonly mode?: CarrierMode
  readonly disturb?: Disturb
  /** Clock of the process, by default that of the store. */
  readonly clock?: Clock
  /** Route turns that the dispatchers of one process share. By default there are no routes. */
  readonly turns?: RouteTurns
  /** True if the lease is also renewed by heartbeats, not only by claims. Default true. */
  readonly beats?: boolean
}

const started: (StartedDispatcher & { readonly world: DispatchWorld })[] = []

/** Starts a dispatcher that is called continuously. */
export function startDispatcher(world: DispatchWorld, options: DispatcherOptions = {}): StartedDispatcher {
  const settings = { ...dispatcherDefaults, ...options.settings }
  const ports = world.disturbed(options.disturb ?? (() => undefined), settings.inDoubtMax)
  const carrier = scriptedCarrier(options)
  const problems: unknown[] = []
  const report = (problem: unknown): void => void problems.push(problem)
  const holdableCarrier = holdable(world.watched(carrier))
  holdableCarrier.setMode(options.mode ?? 'running')
  const dispatcher = createDispatcher(
    { ...ports, clock: options.clock ?? world.clock, later: (_, call) => void setImmediate(call) },
    holdableCarrier,
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
  const one = { dispatcher, carrier, problems, setMode: (mode: CarrierMode) => holdableCarrier.setMode(mode), kill }
  started.push({ ...one, world })
  return one
}

/**
 * Ends all started dispatchers and their carriers, which would offer receipts for ever. Throws if a dispatcher violated
 * an invariant.
 */
export async function endDispatchers(): Promise<void> {
  const ended = started.splice(0)
  for (const one of ended) one.kill()
  await Promise.all(ended.map(({ carrier }) => carrier.close(Promise.resolve())))
  assert.deepEqual([...new Set(ended.flatMap(({ world }) => world.violations))], [])
}
