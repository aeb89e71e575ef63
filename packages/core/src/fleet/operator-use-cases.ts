import { operatorCommand } from '../command.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { CarrierMode } from '../dispatch/carrier.ts'
import type { OperatorPorts } from '../ports.ts'
import type { PublishedRoute } from '../routes/published-routes.ts'
import type { PrefixFigures } from './carrier-figures.ts'
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
})

export const fleetCommands = {
  setCarrierMode: operatorCommand({
    role: 'admin',
    run: (ports) => (carrier: CarrierId, mode: CarrierMode, by: string) => ports.fleet.setMode(carrier, mode, by),
    audit: (carrier, mode) => ({ given: { carrier, mode } }),
  }),
}
