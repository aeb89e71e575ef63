import { carrierId } from '@gateway/core/dispatch'
import { until } from '@gateway/core/testing'
import { memoryCarrierShares } from '../testing/memory-carrier-shares.ts'
import type { CarrierBinds } from './carrier-binds.ts'
import { SharedBinds, type PermittedLink } from './shared-binds.ts'

const carrier = carrierId('shared') ?? failed()
const started: SharedBinds[] = []
afterEach(() => Promise.all(started.splice(0).map((each) => each.stop())))

function failed(): never {
  throw new Error('no name')
}

interface Store extends CarrierBinds {
  isAway: boolean
  readonly asIfThere: CarrierBinds
}

/** Creates a store that can be unavailable. */
function aStore(): Store {
  const { carrierBinds } = memoryCarrierShares()
  const store: Store = {
    isAway: false,
    asIfThere: carrierBinds,
    lease: (...parameters) => (store.isAway ? Promise.reject(new Error('away')) : carrierBinds.lease(...parameters)),
    renew: (...parameters) => (store.isAway ? Promise.reject(new Error('away')) : carrierBinds.renew(...parameters)),
    release: (...parameters) =>
      store.isAway ? Promise.reject(new Error('away')) : carrierBinds.release(...parameters),
  }
  return store
}

function sharing(
  binds: CarrierBinds,
  more: { bindsMax?: number; leaseSeconds?: number; notes?: string[] } = {},
): SharedBinds {
  const { bindsMax = 2, leaseSeconds = 8, notes = [] } = more
  const shared = new SharedBinds({ carrier, binds, bindsMax, leaseSeconds, notify: (text) => notes.push(text) })
  started.push(shared)
  return shared
}

/** Link that records its events, and ends when it must. */
function aLink(shared: SharedBinds, permit = shared.permit()) {
  const events: string[] = []
  const link: PermittedLink = {
    granted: () => void events.push('granted'),
    withdrawn: (when) => {
      events.push(when)
      if (when === 'now') permit.drop(link)
    },
  }
  permit.take(link)
  return { events, drop: () => permit.drop(link) }
}

test('two processes share the binds: the later one waits, is notified once, and gets the binds that are released', async () => {
  const store = aStore()
  const [one, notes] = [sharing(store), [] as string[]]
  const other = sharing(store, { notes })
  const links = [aLink(one), aLink(one)]
  await until(() => links.every(({ events }) => events.length > 0))
  const late = aLink(other)
  await until(() => notes.length === 1)
  expect([late.events, notes]).toEqual([[], ['all 2 binds are in use; it waits for one']])
  links[0]?.drop()
  await until(() => late.events.length > 0)
  expect([late.events, links[1]?.events, notes.length]).toEqual([['granted'], ['granted'], 1])
})

test('both links of a pair share one bind, which is released when the second has ended', async () => {
  const store = aStore()
  const shared = sharing(store, { bindsMax: 1 })
  const permit = shared.permit()
  const [transmitter, receiver] = [aLink(shared, permit), aLink(shared, permit)]
  await until(() => receiver.events.length + transmitter.events.length === 2)
  const notes: string[] = []
  transmitter.drop()
  const other = aLink(sharing(store, { bindsMax: 1, notes }))
  await until(() => notes.length > 0)
  expect(other.events).toEqual([])
  receiver.drop()
  await until(() => other.events.length > 0)
})

test('a lease lasts as long as it is renewed; if it cannot be, its link ends before the lease', async () => {
  const store = aStore()
  const notes: string[] = []
  let renewals = 0
  const counting: CarrierBinds = {
    ...store,
    renew: (...parameters) => {
      renewals++
      return store.renew(...parameters)
    },
  }
  const link = aLink(sharing(counting, { bindsMax: 1, leaseSeconds: 4, notes }))
  // A quarter of the lease passes between two renewals.
  await until(() => renewals > 5)
  expect(link.events).toEqual(['granted'])
  store.isAway = true
  await until(() => link.events.includes('now'))
  const { numbers } = await store.asIfThere.lease(carrier, 'other', { count: 1, max: 1, seconds: 1 })
  expect([link.events, numbers]).toEqual([['granted', 'soon', 'now'], []])
  expect(notes.filter((note) => note === 'its shared binds cannot be leased: away')).toHaveLength(1)
})

test('a lease that another has taken over ends its link at once', async () => {
  const store = aStore()
  const numbers: string[] = []
  const spying: CarrierBinds = {
    ...store,
    lease: (carrier, holder, request) => {
      numbers.push(holder)
      return store.lease(carrier, holder, request)
    },
  }
  const link = aLink(sharing(spying, { bindsMax: 1, leaseSeconds: 8 }))
  await until(() => link.events.length > 0)
  await store.release(carrier, numbers[0] ?? '', [1])
  await until(() => link.events.includes('now'))
  expect(link.events).toEqual(['granted', 'now'])
})
