import { join } from 'node:path'
import { openAccount, type NewAccount } from './accounts.ts'
import type { Interface } from './attempts.ts'
import type { Client } from './clients.ts'
import { freePorts, startPairs, type Instance, type Pairs } from './pairs.ts'
import { killLeftovers, startApp, type App, type Environment, type Started } from './process.ts'
import { proxyNames, startProxy, type Proxy, type ProxyName } from './proxies.ts'

/** Documented proxies in front of two processes of each interface and of the portal. */
export interface Proxied extends Pairs {
  readonly proxy: (name: ProxyName) => Proxy
  readonly instancesOf: (by: Interface) => readonly Instance[]
  /** Returns a client of an instance without a proxy. */
  readonly directly: (by: Interface, key: string) => Client
  /** Opens an account with a password. Its key and password are added to the secrets. */
  readonly newAccount: (credits: number) => Promise<NewAccount>
  /** Texts that no log may contain. */
  readonly secrets: readonly string[]
  /** Returns everything that the processes and the proxies have written to logs. */
  readonly logs: () => string
}

/** Texts that clients send in the tests. No log may contain any of them. */
export const secret = { password: 'canary-of-a-password', text: 'canary-of-a-text', number: '27829876501' }

export async function startProxied(environment: Environment): Promise<Proxied> {
  const pairs = await startPairs(environment)
  const proxies = new Map<ProxyName, Proxy>()
  /** The portal, and the process that receives callbacks. */
  const others: Started[] = []
  const stop = async () => {
    await Promise.all([...proxies.values(), ...others].map((each) => each.stop()))
    await pairs.stop()
    killLeftovers()
  }
  try {
    const [portalPort = 0, callbacksPort = 0] = await freePorts(2)
    const start = (app: App, port: number): Promise<Started> =>
      startApp(app, { ...pairs.environment, PORT: String(port), TRUST_PROXY: '127.0.0.1' })
    others.push(await start('portal', portalPort), await start('callbacks', callbacksPort))
    for (const name of proxyNames) {
      const { instances, folder } = pairs
      proxies.set(name, await startProxy(name, join(folder, name), { instances, portalPort, callbacksPort }))
    }
  } catch (error) {
    await stop()
    throw error
  }
  const secrets: string[] = Object.values(secret)
  let opened = 0
  const instancesOf = (by: Interface) => pairs.instances.filter((one) => one.by === by)
  return {
    ...pairs,
    proxy: (name) => {
      const proxy = proxies.get(name)
      if (proxy === undefined) throw new Error(`${name} does not run`)
      return proxy
    },
    instancesOf,
    directly: (by, key) => ({ url: instancesOf(by)[0]?.process().url ?? '', key }),
    newAccount: async (credits) => {
      const login = `holder${++opened}`
      const account = await openAccount(pairs.environment, login, credits, '--password', secret.password)
      secrets.push(account.key)
      return account
    },
    secrets,
    logs: () =>
      pairs.output() +
      others.map((other) => other.output()).join('') +
      [...proxies.values()].map((proxy) => proxy.log()).join(''),
    stop,
  }
}
