import { databaseVariables, loadVariables, loginVariables, runProcess, serverVariables } from '@gateway/server'
import { loginsOf, openPorts } from './open-ports.ts'
import { serveGateway, type Serving } from './serve-gateway.ts'
import { publishedVariables } from './published-variables.ts'
import { gatewayVariables } from './variables.ts'
import { webhookVariables } from './webhook-ports.ts'

export interface InterfaceSettings extends Pick<Serving, 'createServer' | 'describeMalformed'> {
  /** The name in logs and in messages for the operator. */
  readonly name: string
  /** Where it listens if PORT is not set. */
  readonly port: number
}

/** The main of a process that is one interface: it reads the environment, opens the database and serves until it is told to stop. */
export const startInterface = ({ name, port, ...serving }: InterfaceSettings): Promise<void> =>
  runProcess({
    name,
    garbagePercent: 200,
    published: publishedVariables,
    variables: {
      ...serverVariables(port),
      ...databaseVariables,
      ...loadVariables,
      ...loginVariables,
      ...gatewayVariables,
      ...webhookVariables,
    },
    start: async (context) => {
      await serveGateway(context, await openPorts(context, loginsOf(context)), serving)
    },
  })
