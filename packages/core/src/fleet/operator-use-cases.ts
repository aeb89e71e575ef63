import { operatorCommand } from '../command.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { CarrierMode } from '../dispatch/carrier.ts'
import type { OperatorPorts } from '../ports.ts'
import type { PublishedRoute } from '../routes/published-routes.ts'
import type { PrefixFigures } from './carrier-figures.ts'
import { changeConnection, connectProvider, removeConnection, testConnection } from './connect-provider.ts'
import type { ConnectionResult } from './connect-provider.ts'
import type { ConnectableProvider, ConnectionFields, StoredConnections } from './provider-connections.ts'
import type { PausedCarrier } from './carrier-modes.ts'
import { carrierStaleSeconds, type ReportedCarrier } from './carrier-reports.ts'
import type { RunningDispatcher, WaitingRoute, WaitingWork } from './overview.ts'

export const fleetQueries = (ports: OperatorPorts) => ({
  listDispatchers: (): Promise<readonly RunningDispatcher[]> => ports.overview.dispatchers(),
  listCarriers: (): Promise<readonly ReportedCarrier[]> => ports.fleet.reports(carrierStaleSeconds),
  listHeldCarriers: async (): Promise<readonly PausedCarrier[]> => (await ports.fleet.state()).paused,
  carrierFigures: (carrier: CarrierId): Promise<readonly PrefixFigures[]> => ports.fleet.figures(carrier),
  showQueue: (): AsyncIterable<WaitingWork> => ports.overview.queue(),
  listRoutes: (): Promise<readonly PublishedRoute[]> => ports.routes.list(),
  showRoutes: (): Promise<readonly WaitingRoute[]> => ports.overview.routes(),
  /** Lists the providers that can be connected; undefined if this process connects none. */
  listProviders: (): readonly ConnectableProvider[] | undefined => ports.providerConnections?.providers(),
  /** Returns the stored carriers over HTTP; undefined if this process connects none. */
  storedConnections: async (): Promise<StoredConnections | undefined> => ports.providerConnections?.stored(),
})

/** Records a version, a refusal or the fields that were wrong, without their values. */
const outcomeOfChange = (result: ConnectionResult) => (typeof result === 'object' ? 'wrong-fields' : result)

const auditOfFields = ({ carrier, provider }: ConnectionFields, after: number) => ({
  given: { carrier, provider, after },
  outcome: outcomeOfChange,
})

export const fleetCommands = {
  setCarrierMode: operatorCommand({
    role: 'admin',
    run: (ports) => (carrier: CarrierId, mode: CarrierMode, by: string) => ports.fleet.setMode(carrier, mode, by),
    audit: (carrier, mode) => ({ given: { carrier, mode } }),
  }),
  connectProvider: operatorCommand({ role: 'admin', run: connectProvider, audit: auditOfFields }),
  changeConnection: operatorCommand({ role: 'admin', run: changeConnection, audit: auditOfFields }),
  removeConnection: operatorCommand({
    role: 'admin',
    run: removeConnection,
    audit: (carrier, after) => ({ given: { carrier, after }, outcome: outcomeOfChange }),
  }),
  testConnection: operatorCommand({
    role: 'admin',
    run: testConnection,
    audit: (carrier) => ({
      given: { carrier },
      outcome: (result) => (typeof result === 'string' ? result : result.outcome),
    }),
  }),
}
