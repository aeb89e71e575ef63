import type { CarrierId } from '../dispatch/carrier-id.ts'
import { carrierId } from '../dispatch/carrier-id.ts'
import type { Ports } from '../ports.ts'
import type { ConnectionFields, ConnectionRefusal, ConnectionTrial, TrialMessage } from './provider-connections.ts'

type ConnectionPorts = Pick<Ports, 'providerConnections' | 'fleet'>

/** Result of a change: the new version, or the reason why nothing was changed. */
export type ConnectionResult = number | ConnectionRefusal | 'not-offered'

/**
 * Adds a carrier over HTTP, paused, so that no message leaves through it before an operator has tried it. Returns the
 * new version. If nothing is stored, no carrier stays paused.
 */
export const connectProvider =
  ({ providerConnections: connections, fleet }: ConnectionPorts) =>
  async (fields: ConnectionFields, after: number, by: string): Promise<ConnectionResult> => {
    if (connections === undefined) return 'not-offered'
    const name = carrierId(fields.carrier)
    if (name !== undefined && !(await isStored(connections, name))) await fleet.setMode(name, 'paused', by)
    const saved = await connections.save(fields, { after, isNew: true, storedBy: by })
    if (name !== undefined && typeof saved !== 'number' && !(await isStored(connections, name)))
      await fleet.setMode(name, 'running', by)
    return saved
  }

async function isStored(
  connections: NonNullable<ConnectionPorts['providerConnections']>,
  name: CarrierId,
): Promise<boolean> {
  const { connections: known, others } = await connections.stored()
  return others.includes(name) || known.some(({ carrier }) => carrier === name)
}

/** Changes a carrier over HTTP. Secrets that are empty keep their values. Returns the new version. */
export const changeConnection =
  ({ providerConnections: connections }: ConnectionPorts) =>
  async (fields: ConnectionFields, after: number, by: string): Promise<ConnectionResult> =>
    connections === undefined ? 'not-offered' : connections.save(fields, { after, isNew: false, storedBy: by })

/** Removes a carrier over HTTP that no route names, with its stored secrets. Returns the new version. */
export const removeConnection =
  ({ providerConnections: connections }: ConnectionPorts) =>
  async (carrier: CarrierId, after: number, by: string): Promise<ConnectionResult> =>
    connections === undefined ? 'not-offered' : connections.remove(carrier, { after, storedBy: by })

/** Sends one message over a stored carrier, also a paused one, and returns the provider's answer. */
export const testConnection =
  ({ providerConnections: connections }: ConnectionPorts) =>
  async (carrier: CarrierId, message: TrialMessage): Promise<ConnectionTrial | 'no-such-carrier' | 'not-offered'> =>
    connections === undefined ? 'not-offered' : connections.send(carrier, message)
