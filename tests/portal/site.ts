import { until } from '@gateway/core/testing'
import { startReceiver, type Receiver } from '../../packages/adapters-webhooks/testing/receiver.ts'
import { openAccount } from '../support/accounts.ts'
import { operateJson } from '../support/operate.ts'
import { databaseFolder, startApp, type Environment } from '../support/process.ts'

export interface Credentials {
  readonly name: string
  readonly password: string
}

/** Gateway after its first start, with an operator and a server that receives events. */
export interface Site {
  readonly url: string
  /** Link that signs the account holder in, once. */
  readonly link: string
  readonly holder: Credentials
  /** Account of another customer. */
  readonly acme: Credentials & { readonly id: number }
  readonly admin: Credentials
  readonly support: Credentials
  readonly receiver: Receiver
  readonly environment: Environment
  stop(): Promise<void>
}

export async function startSite(): Promise<Site> {
  const data = await databaseFolder()
  const receiver = await startReceiver()
  const environment: Environment = {
    DATA_DIR: data.path,
    CARRIERS: 'simulator:?delayMs=400',
    WEBHOOK_HTTP: 'true',
    WEBHOOK_ALLOW: '127.0.0.0/8',
    OIDC_ISSUER: 'http://127.0.0.1:9',
    OIDC_CLIENT_ID: 'gateway',
  }
  const app = await startApp('all-in-one', environment)
  const printed = (pattern: RegExp) => until(() => pattern.exec(app.output())?.[1])
  const link = await printed(/^ *(http\S+\/link\?token=\S+)$/m)
  const holder = { name: await printed(/^ {2}user +(\S+)$/m), password: await printed(/^ {2}password +(\S+)$/m) }
  const operator = async (name: string, role: string): Promise<Credentials> => {
    const args = ['operator', 'add', name, '--role', role, '--generate']
    const { password } = await operateJson<{ password: string }>(args, environment)
    return { name, password }
  }
  const admin = await operator('ann', 'admin')
  const support = await operator('ben', 'support')
  const names = ['--first-name', 'Acme', '--surname', 'Stores', '--password', 'acme-stores-1']
  const { id } = await openAccount(environment, 'acme', 15_000, ...names)
  await operateJson(['account', 'limit', String(id), '--recipients', '400'], environment)
  const acme = { id, name: 'acme', password: 'acme-stores-1' }
  return {
    ...{ url: app.url, link, holder, acme, admin, support, receiver, environment },
    stop: async () => {
      await app.stop()
      await receiver.close()
      await data.remove()
    },
  }
}
