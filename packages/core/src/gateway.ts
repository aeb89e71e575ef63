import { accountCommands, accountQueries } from './accounts/holder-use-cases.ts'
import { bulkSendCommands, bulkSendQueries } from './bulk-sends/holder-use-cases.ts'
import { runsOf, type Runs } from './command.ts'
import { creditCommands, creditQueries } from './credits/holder-use-cases.ts'
import { inboxCommands, inboxQueries } from './inbox/holder-use-cases.ts'
import { messageCommands, messageQueries } from './messages/holder-use-cases.ts'
import { peopleCommands, peopleQueries } from './people/holder-use-cases.ts'
import type { HolderPorts } from './ports.ts'
import { gatewayDefaults, type GatewaySettings } from './settings.ts'
import { smppCommands, smppQueries } from './smpp-customers/holder-use-cases.ts'
import { suppressionCommands, suppressionQueries } from './suppressions/holder-use-cases.ts'
import { webhookCommands, webhookQueries } from './webhooks/holder-use-cases.ts'

/** Commands of an account holder, each with its role and its audit line. */
export const gatewayCommands = {
  ...accountCommands,
  ...peopleCommands,
  ...messageCommands,
  ...bulkSendCommands,
  ...creditCommands,
  ...inboxCommands,
  ...suppressionCommands,
  ...webhookCommands,
  ...smppCommands,
}

const queriesOn = (ports: HolderPorts) => ({
  ...accountQueries(ports),
  ...peopleQueries(ports),
  ...messageQueries(ports),
  ...bulkSendQueries(ports),
  ...creditQueries(ports),
  ...inboxQueries(ports),
  ...suppressionQueries(ports),
  ...webhookQueries(ports),
  ...smppQueries(ports),
})

export type GatewayQueries = Readonly<ReturnType<typeof queriesOn>>
export type GatewayCommands = Runs<typeof gatewayCommands>

/** Use cases of an account holder, on every interface. A query changes nothing. */
export interface Gateway {
  readonly queries: GatewayQueries
  readonly commands: GatewayCommands
}

export const createGateway = (ports: HolderPorts, settings: GatewaySettings = gatewayDefaults): Gateway => ({
  queries: queriesOn(ports),
  commands: runsOf(gatewayCommands, ports, settings),
})
