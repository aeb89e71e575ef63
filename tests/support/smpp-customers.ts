import type { Bind } from '@gateway/smpp'
import { SmppClient, type SmppClientSettings } from '../../apps/smpp/testing/smpp-client.ts'
import { operateJson } from './operate.ts'
import type { Environment } from './process.ts'

/** Credential of a customer, as `gateway smpp add` prints it. */
export interface SmppLogin {
  readonly id: number
  readonly systemId: string
  readonly password: string
}

/** Adds a credential to an account, by the command line. */
export const addCredential = (
  environment: Environment,
  account: number,
  ...options: readonly string[]
): Promise<SmppLogin> => operateJson<SmppLogin>(['smpp', 'add', '--account', String(account), ...options], environment)

/** Connects a test client and binds it, as a transceiver by default. */
export async function bindClient(
  port: number,
  { systemId, password }: SmppLogin,
  settings: Partial<SmppClientSettings> = {},
  command: Bind['command'] = 'bind_transceiver',
): Promise<SmppClient> {
  const client = await SmppClient.connect({ port, ...settings })
  const { status } = await client.bind(systemId, password, { command })
  if (status !== 0) throw new Error(`the bind was answered with command_status ${status}`)
  return client
}

/** Returns the id of a receipt from its text. */
export const receiptedId = (text: Buffer): string => /^id:(\d+) /.exec(text.toString('latin1'))?.[1] ?? ''
