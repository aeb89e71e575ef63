import { renewedShare, type CarrierSharePorts, type LeasedRate } from '@gateway/carrier-kit'
import type { CarrierId } from '@gateway/core/dispatch'
import { atomic, realClock } from '@gateway/core/testing'
import type { Clock } from '@gateway/core/time'

const extended = <Lease extends { readonly until: number }>(lease: Lease, until: number): Lease => ({
  ...lease,
  until: Math.max(lease.until, until),
})

function memoryCarrierRates(clock: Clock): CarrierSharePorts['carrierRates'] {
  const rates = new Map<CarrierId, ReadonlyMap<string, LeasedRate & { readonly until: number }>>()
  return {
    renew: atomic((carrier, holder, { seconds, wasAway = false, ...demand }) => {
      const now = clock.now()
      const all = [...(rates.get(carrier) ?? [])]
      const counted = wasAway
        ? all.map(([other, lease]) => [other, extended(lease, now + seconds * 1000)] as const)
        : all
      const leases = new Map(counted.filter(([, { until }]) => until > now))
      const holders = [...new Set([...leases.keys(), holder])].sort()
      const { granted, share } = renewedShare(
        demand,
        holders.map((other) => (other === holder ? undefined : leases.get(other))),
      )
      leases.set(holder, { share, need: demand.need, until: now + seconds * 1000 })
      rates.set(carrier, leases)
      return granted
    }),
  }
}

/** Lease of one bind. The time is in milliseconds since 1970. */
interface LeasedBind {
  readonly holder: string
  readonly until: number
}

function memoryCarrierBinds(clock: Clock): CarrierSharePorts['carrierBinds'] {
  const binds = new Map<CarrierId, ReadonlyMap<number, LeasedBind>>()
  const live = (carrier: CarrierId) => [...(binds.get(carrier) ?? [])].filter(([, { until }]) => until > clock.now())
  const store = (carrier: CarrierId, leases: readonly (readonly [number, LeasedBind])[]): void =>
    void binds.set(carrier, new Map(leases))
  const until = (seconds: number): number => clock.now() + seconds * 1000

  return {
    lease: atomic((carrier, holder, { count, max, seconds }) => {
      const leases = live(carrier)
      const free = Array.from({ length: max }, (_, at) => at + 1).filter((n) =>
        leases.every(([leased]) => leased !== n),
      )
      const numbers = free.slice(0, Math.max(0, Math.min(count, max - leases.length)))
      store(carrier, [...leases, ...numbers.map((n) => [n, { holder, until: until(seconds) }] as const)])
      const ends = leases.filter(([, bind]) => bind.holder !== holder).map(([, bind]) => bind.until - clock.now())
      const isShort = numbers.length < count && ends.length > 0
      return { numbers, freeInMilliseconds: isShort ? Math.min(...ends) : undefined }
    }),
    renew: atomic((carrier, holder, seconds) => {
      const renewed = live(carrier).map(([n, bind]) =>
        bind.holder === holder ? ([n, { holder, until: until(seconds) }] as const) : ([n, bind] as const),
      )
      store(carrier, renewed)
      return renewed.flatMap(([n, bind]) => (bind.holder === holder ? [n] : []))
    }),
    release: atomic((carrier, holder, numbers) =>
      store(
        carrier,
        live(carrier).filter(([n, bind]) => bind.holder !== holder || !numbers.includes(n)),
      ),
    ),
  }
}

/** Creates the ports through which processes share a carrier, in memory. Leases end by `clock`. */
export const memoryCarrierShares = (clock: Clock = realClock()): CarrierSharePorts => ({
  carrierBinds: memoryCarrierBinds(clock),
  carrierRates: memoryCarrierRates(clock),
})
