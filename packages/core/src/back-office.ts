import { accountCommands, accountQueries } from './accounts/operator-use-cases.ts'
import { auditQueries } from './audit/operator-use-cases.ts'
import { runsOf, type Runs } from './command.ts'
import { creditCommands, creditQueries } from './credits/operator-use-cases.ts'
import { dispatchCommands, dispatchQueries } from './dispatch/operator-use-cases.ts'
import { fleetCommands, fleetQueries } from './fleet/operator-use-cases.ts'
import { inboxQueries } from './inbox/operator-use-cases.ts'
import { messageCommands, messageQueries } from './messages/operator-use-cases.ts'
import { peopleCommands, peopleQueries } from './people/operator-use-cases.ts'
import { personalDataCommands, personalDataQueries } from './personal-data/operator-use-cases.ts'
import type { OperatorPorts } from './ports.ts'
import { backOfficeDefaults, type BackOfficeSettings } from './settings.ts'
import { smppCommands, smppQueries } from './smpp-customers/operator-use-cases.ts'
import { suppressionCommands, suppressionQueries } from './suppressions/operator-use-cases.ts'
import { webhookCommands, webhookQueries } from './webhooks/operator-use-cases.ts'

/** Commands of an operator, each with its role and its audit line. */
export const backOfficeCommands = {
  ...accountCommands,
  ...peopleCommands,
  ...messageCommands,
  ...creditCommands,
  ...suppressionCommands,
  ...webhookCommands,
  ...smppCommands,
  ...personalDataCommands,
  ...dispatchCommands,
  ...fleetCommands,
}

const queriesOn = (ports: OperatorPorts, settings: BackOfficeSettings) => ({
  ...accountQueries(ports),
  ...peopleQueries(ports, settings),
  ...messageQueries(ports),
  ...creditQueries(ports),
  ...suppressionQueries(ports),
  ...inboxQueries(ports),
  ...webhookQueries(ports),
  ...smppQueries(ports),
  ...personalDataQueries(ports),
  ...dispatchQueries(ports),
  ...fleetQueries(ports),
  ...auditQueries(ports),
})

export type BackOfficeQueries = Readonly<ReturnType<typeof queriesOn>>
export type BackOfficeCommands = Runs<typeof backOfficeCommands>

/** Use cases of an operator. A query changes nothing. */
export interface BackOffice {
  readonly queries: BackOfficeQueries
  readonly commands: BackOfficeCommands
}

/** Settings that are left out have their defaults. */
export function createBackOffice(ports: OperatorPorts, changes: Partial<BackOfficeSettings> = {}): BackOffice {
  const settings = { ...backOfficeDefaults, ...changes }
  return { queries: queriesOn(ports, settings), commands: runsOf(backOfficeCommands, ports, settings) }
}
