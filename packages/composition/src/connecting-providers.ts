import type { Ports } from '@gateway/core'
import type { ContextWith, DatabaseEnvironment } from './open-ports.ts'

/**
 * Adds the port by which operators connect providers over HTTP. A process with the embedded database shares its folder,
 * and so the key in it, with all processes of the gateway. Without that, stored secrets need `SECRETS_KEY`.
 */
export async function connectingProviders<All extends Ports>(
  { environment }: ContextWith<Pick<DatabaseEnvironment, 'DATABASE_URL' | 'SECRETS_KEY'>>,
  ports: All,
): Promise<All> {
  const { providerConnections } = await import('@gateway/carriers')
  const isKeyShared = environment.SECRETS_KEY.length > 0 || environment.DATABASE_URL === undefined
  return { ...ports, providerConnections: providerConnections(ports, { variables: process.env, isKeyShared }) }
}
