import type { CarrierId } from '@gateway/core/dispatch'
import type {
  CarrierReport,
  CarrierUser,
  Fleet,
  FleetState,
  PrefixCounts,
  ReportedCarrier,
  ReportingProcess,
} from '@gateway/core/fleet'
import { atomic } from './atomic.ts'
import { memoryCarrierWatches } from './carrier-watches.ts'
import type { MemoryStore } from './store.ts'

/** Never deletes old counts, because no test lasts a day. */
export function memoryFleet(store: MemoryStore): Fleet {
  const state = (): FleetState => ({
    version: store.carrierVersions.at(-1)?.version ?? 0,
    paused: [...store.heldCarriers.values()].sort((one, other) => (one.carrier < other.carrier ? -1 : 1)),
    watches: [...store.carrierWatches.values()]
      .flatMap(({ watch, until }) => (until > store.clock.now() ? watch : []))
      .sort((one, other) => (one.id < other.id ? -1 : 1)),
  })

  return {
    ...memoryCarrierWatches(store),
    beat: atomic(({ user, seconds, reports, counts }) => {
      registerUser(store, user, seconds)
      if (reports !== undefined) replaceReports(store, user.process, reports)
      for (const { carrier, counts: ofCarrier } of counts) addCounts(store, carrier, ofCarrier)
      return state()
    }),
    state: atomic(state),
    onChange: (changed) => void store.carrierListeners.add(changed),
    setMode: atomic((carrier, mode, by) => {
      const { heldCarriers: paused } = store
      if ((paused.get(carrier)?.mode ?? 'running') === mode) return false
      if (mode === 'running') paused.delete(carrier)
      else paused.set(carrier, { carrier, mode, since: store.clock.now(), by })
      for (const changed of store.carrierListeners) changed()
      return true
    }),
    users: atomic(() => usersOf(store)),
    reports: atomic((staleSeconds) => {
      const now = store.clock.now()
      const judged = store.carrierReports.map((row): ReportedCarrier => ({
        ...row,
        isStale: now - row.reportedAt >= staleSeconds * 1000,
      }))
      return judged.sort((one, other) => (reportOrder(one) < reportOrder(other) ? -1 : 1))
    }),
    figures: atomic((carrier) =>
      [...(store.carrierFigures.get(carrier)?.values() ?? [])]
        .map(({ prefix, ...sums }) => ({ prefix, hour: sums, day: sums }))
        .sort((one, other) => (one.prefix < other.prefix ? -1 : 1)),
    ),
  }
}

/** Returns the running processes by host and process id. */
export const usersOf = (store: MemoryStore): readonly CarrierUser[] =>
  [...store.carrierUsers.values()]
    .filter(({ until }) => until > store.clock.now())
    .map(({ process, version, simulated }) => ({ process, version, simulated }))
    .sort((one, other) => (userOrder(one) < userOrder(other) ? -1 : 1))

export function registerUser(store: MemoryStore, user: CarrierUser, seconds: number): void {
  store.carrierUsers.set(user.process.id, { ...user, until: store.clock.now() + seconds * 1000 })
}

const dayMilliseconds = 86_400_000

function replaceReports(store: MemoryStore, process: ReportingProcess, reports: readonly CarrierReport[]): void {
  const now = store.clock.now()
  const others = store.carrierReports.filter(
    (row) => row.process.id !== process.id && now - row.reportedAt < dayMilliseconds,
  )
  store.carrierReports = [...others, ...reports.map((report) => ({ ...report, process, reportedAt: now }))]
}

function addCounts(store: MemoryStore, carrier: CarrierId, counts: readonly PrefixCounts[]): void {
  const figures = store.carrierFigures.get(carrier) ?? new Map<string, PrefixCounts>()
  store.carrierFigures.set(carrier, figures)
  for (const { prefix, delivered, failed, unknown, refused } of counts) {
    const before = figures.get(prefix) ?? { delivered: 0, failed: 0, unknown: 0, refused: 0 }
    figures.set(prefix, {
      ...{ prefix, delivered: before.delivered + delivered, failed: before.failed + failed },
      ...{ unknown: before.unknown + unknown, refused: before.refused + refused },
    })
  }
}

const userOrder = ({ process: { host, pid, id } }: CarrierUser): string =>
  [host, String(pid).padStart(10), id].join('\0')
const reportOrder = ({ carrier, process }: ReportedCarrier): string => [carrier, process.host, process.id].join('\0')
