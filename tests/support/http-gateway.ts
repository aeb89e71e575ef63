import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { startHttpProvider, type HttpProviderServer } from '../../packages/smsc-simulator/src/index.ts'
import { openAccount } from './accounts.ts'
import { patiently, rest, restSend, restStatus, type Client } from './clients.ts'
import { startDatabase, type Database } from './database.ts'
import { freePorts } from './pairs.ts'
import { dataFolder, startApp, type App, type Environment, type Started } from './process.ts'

/** Number of the account's replies, which is also the sender of its messages. */
export const sender = '15005550006'

/** Gateway whose only carrier is a simulated Twilio. */
export interface HttpGateway {
  readonly client: Client
  readonly database: Database
  readonly provider: HttpProviderServer
  readonly environment: Environment
  /** Returns the process that receives callbacks, which keeps its port over restarts. */
  readonly callbacks: () => Started
  /** Starts the process that receives callbacks again, after it has ended. */
  restartCallbacks(): Promise<void>
  /** Sends a message to this number and returns its id. */
  send(to: string): Promise<number>
  codeOf(id: number): Promise<number>
  /** Returns the texts of the account's replies. */
  replies(): Promise<readonly string[]>
  /** Returns the number of callbacks with this result. */
  counted(result: string): Promise<number>
  stop(): Promise<void>
}

/** Starts the all-in-one, or one process each for REST, dispatching and callbacks, on a database of its own. */
export async function startHttpGateway(form: 'all-in-one' | 'processes'): Promise<HttpGateway> {
  const data = await dataFolder()
  const database = await startDatabase(join(data.path, 'db'))
  const [port = 0] = await freePorts(1)
  const publicUrl = `http://127.0.0.1:${port}`
  const provider = await startHttpProvider({
    provider: 'twilio',
    secrets: { sid: 'AC1', token: 'auth-token' },
    changes: { receiptDelay: 20, retryDelay: 100 },
  })
  const environment = {
    DATABASE_URL: database.connectionString,
    DATA_DIR: data.path,
    CARRIERS: `file:${await carrierFile(data.path, provider.url)}`,
    PUBLIC_URL: publicUrl,
    SENDERS: sender,
  }
  const start = (app: App, at = 0): Promise<Started> => startApp(app, { ...environment, PORT: String(at) })
  const receiving = form === 'all-in-one' ? 'all-in-one' : 'callbacks'
  // The carriers are stored by the process that dispatches, which is started first.
  const others = form === 'all-in-one' ? [] : [await start('dispatcher'), await start('rest')]
  let callbacks = await start(receiving, port)
  const { key } = await openAccount(environment, 'acme', 1000)
  const client = { url: others[1]?.url ?? callbacks.url, key }
  return {
    ...{ client, database, provider, environment, callbacks: () => callbacks },
    restartCallbacks: async () => {
      callbacks = await start(receiving, port)
    },
    send: async (to) => Number((await restSend(client, [to]))[0]),
    codeOf: async (id) => (await patiently(() => restStatus(client, [id])))[0]?.statusCode ?? NaN,
    replies: async () => {
      const path = '/sms/incoming?offset=0&limit=100'
      const { incomingMessages } = await rest<{ incomingMessages: readonly { messageText: string }[] }>(client, path)
      return incomingMessages.map(({ messageText }) => messageText)
    },
    counted: async (result) => {
      const text = await (await fetch(`${callbacks.url}/metrics`)).text()
      return Number(
        new RegExp(`^gateway_callbacks_total\\{carrier="main",result="${result}"\\} (\\d+)`, 'm').exec(text)?.[1],
      )
    },
    stop: async () => {
      await Promise.all([...others, callbacks].map((process) => process.stop()))
      await provider.close()
      await database.remove()
      await data.remove()
    },
  }
}

async function carrierFile(folder: string, baseUrl: string): Promise<string> {
  const path = join(folder, 'carriers.json')
  const secrets = { sid: 'AC1', token: 'auth-token' }
  // A short time limit, so that messages without an answer get their outcome soon.
  const carrier = { name: 'main', type: 'http', provider: 'twilio', baseUrl, secrets, from: sender, responseSeconds: 2 }
  await writeFile(path, JSON.stringify({ carriers: [carrier] }))
  return path
}

/** Waits until a message has this code. */
export const untilCode = ({ codeOf }: Pick<HttpGateway, 'codeOf'>, id: number, code: number): Promise<unknown> =>
  until(async () => (await codeOf(id)) === code, 30_000)
