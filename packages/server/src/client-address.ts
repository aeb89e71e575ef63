import type { IncomingMessage } from 'node:http'
import { inNetworks } from './trusted-proxies.ts'

type Request = IncomingMessage & { readonly ip?: string | undefined }

/** The address of a request's client, or what a trusted proxy says of it (`trustProxies`); empty if the connection is closed. */
export const clientAddress = (request: Request): string =>
  (request.ip ?? request.socket.remoteAddress ?? '').replace(/%.*$/, '')

/** Whether a request comes from one of these networks, each as `readNetwork` gives it; IPv4-mapped IPv6 counts as IPv4. */
export const comesFrom =
  (request: Request) =>
  (networks: readonly string[]): boolean =>
    checkOf(networks)(clientAddress(request))

/** By list: accounts and keys are remembered with theirs, so that each is read once. */
const checks = new WeakMap<readonly string[], (address: string) => boolean>()

function checkOf(networks: readonly string[]): (address: string) => boolean {
  const check = checks.get(networks) ?? inNetworks(networks)
  checks.set(networks, check)
  return check
}
