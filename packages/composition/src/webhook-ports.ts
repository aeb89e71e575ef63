import { readSecretsKey, secretBox } from '@gateway/adapters-node'
import { webhookClient } from '@gateway/adapters-webhooks'
import type { Ports } from '@gateway/core'
import { flag, listOf, readNetwork, serverUrl } from '@gateway/server/configuration'

interface WebhookVariables {
  readonly SECRETS_KEY: ReturnType<typeof listOf<string>>
  readonly WEBHOOK_ALLOW: ReturnType<typeof listOf<string>>
  readonly WEBHOOK_HTTP: ReturnType<typeof flag>
  readonly WEBHOOK_PROXY: ReturnType<typeof serverUrl>
  readonly WEBHOOK_PROXY_RESOLVES: ReturnType<typeof flag>
}

/** What a process reads that configures webhooks or pushes to them. */
export const webhookVariables: WebhookVariables = {
  SECRETS_KEY: listOf<string>({
    what: 'keys of 32 bytes in base64 or hexadecimal, the current one first',
    read: readSecretsKey,
    byDefault: [],
  }),
  WEBHOOK_ALLOW: listOf<string>({
    what: 'addresses or networks of your own that webhooks may reach, each like 10.0.0.0/8',
    read: readNetwork,
    byDefault: [],
  }),
  WEBHOOK_HTTP: flag('webhooks may have addresses of plain http'),
  WEBHOOK_PROXY: serverUrl({
    what: 'the address of a proxy that webhooks go through',
    example: 'http://user:password@proxy:3128',
  }),
  WEBHOOK_PROXY_RESOLVES: flag('the proxy looks up names and checks their addresses'),
}

export interface WebhookEnvironment {
  readonly DATA_DIR: string
  readonly SECRETS_KEY: readonly string[]
  readonly WEBHOOK_ALLOW: readonly string[]
  readonly WEBHOOK_HTTP: boolean
  readonly WEBHOOK_PROXY: string | undefined
  readonly WEBHOOK_PROXY_RESOLVES: boolean
}

/** What seals signing secrets, and what pushes events, by this clock if given. Whoever pushes closes the client. */
export const webhookPorts = (
  environment: WebhookEnvironment,
  clock?: Ports['clock'],
): Pick<Ports, 'secretBox' | 'webhookClient'> => ({
  secretBox: secretBox({ keys: environment.SECRETS_KEY, folder: environment.DATA_DIR }),
  webhookClient: webhookClient({
    allow: environment.WEBHOOK_ALLOW,
    http: environment.WEBHOOK_HTTP,
    ...(clock && { clock }),
    ...(environment.WEBHOOK_PROXY !== undefined && {
      proxy: { url: environment.WEBHOOK_PROXY, resolvesNames: environment.WEBHOOK_PROXY_RESOLVES },
    }),
  }),
})
