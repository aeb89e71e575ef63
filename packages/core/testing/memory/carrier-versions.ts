import type { CarrierConflict, CarrierUser, CarrierVersions } from '@gateway/core'
import { atomic } from './atomic.ts'
import { publishRoutes } from './routes.ts'
import type { MemoryStore } from './store.ts'

export function memoryCarrierVersions(store: MemoryStore): CarrierVersions {
  const { carrierVersions: versions, carrierUsers, carrierListeners } = store
  const latestNumber = (): number => versions.at(-1)?.version ?? 0
  const users = (): readonly CarrierUser[] =>
    [...carrierUsers.values()]
      .filter(({ until }) => until > store.clock.now())
      .map(({ process, version, simulated }) => ({ process, version, simulated }))
      .sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
  const use = (user: CarrierUser, seconds: number): void => {
    carrierUsers.set(user.process.id, { ...user, until: store.clock.now() + seconds * 1000 })
  }

  return {
    latest: atomic(() => versions.at(-1)),
    latestNumber: atomic(latestNumber),
    find: atomic((version) => versions.find((one) => one.version === version)),
    list: atomic((countMax) => versions.toReversed().slice(0, countMax)),
    store: atomic(({ routes, ...next }, after, { onPurpose }): number | 'outdated' | CarrierConflict => {
      if (latestNumber() !== after) return 'outdated'
      const user = onPurpose ? undefined : users().find(({ simulated }) => simulated !== undefined)
      if (user !== undefined) return { user }
      publishRoutes(store, routes)
      versions.push({ ...next, version: after + 1, storedAt: store.clock.now() })
      for (const changed of carrierListeners) changed()
      return after + 1
    }),
    join: atomic((user, seconds): 'joined' | 'outdated' | CarrierConflict => {
      if (latestNumber() !== user.version) return 'outdated'
      const other = users().find(({ simulated }) => simulated !== undefined && simulated !== user.simulated)
      if (other !== undefined && user.simulated !== undefined) return { user: other }
      use(user, seconds)
      return 'joined'
    }),
    renew: atomic(use),
    leave: atomic((process) => void carrierUsers.delete(process)),
    users: atomic(users),
    onChange: (changed) => void carrierListeners.add(changed),
    reseal: atomic((sealAgain) => {
      let changed = 0
      for (const [at, version] of versions.entries()) {
        const sealed = sealAgain(version)
        if (sealed === undefined || sealed === version.sealed) continue
        versions[at] = { ...version, sealed }
        changed++
      }
      return changed
    }),
  }
}

const orderOf = ({ process: { host, pid, id } }: CarrierUser): string => [host, String(pid).padStart(10), id].join('\0')
