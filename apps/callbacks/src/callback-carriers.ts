import { accountOf, type ProviderAccount } from '@gateway/adapters-http'
import { openCarriers, type CarrierPorts, type CarrierSpecification } from '@gateway/carriers'
import type { Ports } from '@gateway/core'
import type { CarrierId } from '@gateway/core/dispatch'
import { repeat, type Log } from '@gateway/server'

/** Properties of a carrier over HTTP that are needed to receive its callbacks. */
export interface CallbackCarrier {
  readonly id: CarrierId
  readonly account: ProviderAccount
  /** URL at which the provider reaches the gateway. If undefined, no callback can be verified. */
  readonly publicUrl: string | undefined
  /** Networks from which the provider calls. If undefined, callbacks from every network are accepted. */
  readonly networks: readonly string[] | undefined
}

/** Stored carriers that are connected over HTTP. */
export interface CallbackCarriers {
  /** Returns the carrier with this name, or undefined if no carrier over HTTP has it. */
  find(name: string): CallbackCarrier | undefined
  list(): readonly CarrierId[]
  /** False until the stored carriers have been read, and while this process cannot read their latest version. */
  isUsable(): boolean
}

export interface FollowedCallbackCarriers extends CallbackCarriers {
  /** Stops following; resolves when the running read has ended. */
  stop(): Promise<void>
}

interface Following {
  readonly ports: CarrierPorts & Pick<Ports, 'fleet'>
  readonly log: Log
}

/** Milliseconds after which a new version is noticed even without a notification. */
const pollMilliseconds = 5000

/** Reads the stored carriers and follows their changes. Resolves after the first read, successful or not. */
export async function followCallbackCarriers({ ports, log }: Following): Promise<FollowedCallbackCarriers> {
  const { carrierVersions, fleet } = ports
  let carriers: ReadonlyMap<string, CallbackCarrier> = new Map()
  /** Version that was read last, usable or not. */
  let readVersion: number | undefined
  let isUsable = false

  async function read(): Promise<void> {
    const stored = await carrierVersions.latest()
    try {
      carriers = stored === undefined ? new Map() : carriersOf((await openCarriers(stored, ports)).carriers)
      isUsable = true
    } catch (problem) {
      isUsable = false
      const { message: reason } = problem as Error
      log.error(
        { version: stored?.version, reason },
        'callbacks are answered 503: this process cannot use the stored carriers',
      )
    }
    readVersion = stored?.version ?? 0
  }

  const following = repeat({
    name: 'look for stored carriers',
    pauseMilliseconds: pollMilliseconds,
    log,
    work: async () => {
      if ((await fleet.state()).version !== readVersion) await read()
      return 'all'
    },
  })
  fleet.onChange(() => following.wake())
  await following.ranOnce
  return {
    find: (name) => carriers.get(name),
    list: () => [...carriers.values()].map(({ id }) => id),
    isUsable: () => isUsable,
    stop: () => following.stop(),
  }
}

const carriersOf = (specifications: readonly CarrierSpecification[]): ReadonlyMap<string, CallbackCarrier> =>
  new Map(
    specifications.flatMap(({ id, kind, settings }) => {
      if (kind !== 'http') return []
      const { publicUrl, callbackNetworks: networks } = settings
      return [[id, { id, account: accountOf(settings), publicUrl, networks }] as const]
    }),
  )
