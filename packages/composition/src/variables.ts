import { readSecretsKey, secretBox } from '@gateway/adapters-node'
import { webhookClient } from '@gateway/adapters-webhooks'
import {
  gatewayDefaults,
  type GatewaySettings,
  type Ports,
  processingDefaults,
  type ProcessingSettings,
} from '@gateway/core'
import { confirmationOf, defaultConfirmation } from '@gateway/core/inbox'
import { parseSenderAddress, type SenderAddress } from '@gateway/core/messages'
import {
  databaseVariables,
  flag,
  listOf,
  loadVariables,
  loginVariables,
  oidcVariables,
  readNetwork,
  serverUrl,
  serverVariables,
  text,
  wholeNumber,
} from '@gateway/server/configuration'

/** Sender addresses for accounts without a code. */
export const SENDERS: ReturnType<typeof listOf<SenderAddress>> = listOf({
  description: 'sender addresses, each of 3 to 15 digits',
  read: parseSenderAddress,
  byDefault: gatewayDefaults.senders,
})

interface GatewayVariables {
  readonly SENDERS: typeof SENDERS
  readonly REPLIES_PER_CALL: ReturnType<typeof wholeNumber>
  readonly OPERATOR_SECOND_FACTOR: ReturnType<typeof flag>
}

/** Variables of a process that serves account holders. */
export const gatewayVariables: GatewayVariables = {
  SENDERS,
  OPERATOR_SECOND_FACTOR: flag('operators need a second factor to sign in'),
  REPLIES_PER_CALL: wholeNumber('messages that one return-once call returns', {
    min: 1,
    max: 100_000,
    byDefault: gatewayDefaults.returnOnceMax,
  }),
}

export interface GatewayEnvironment {
  readonly SENDERS: readonly SenderAddress[]
  readonly REPLIES_PER_CALL: number
  readonly OPERATOR_SECOND_FACTOR: boolean
}

export const gatewaySettings = (environment: GatewayEnvironment): GatewaySettings => ({
  senders: environment.SENDERS,
  returnOnceMax: environment.REPLIES_PER_CALL,
})

type ProcessingVariables = Readonly<{
  OPTOUT_CONFIRMATION: ReturnType<typeof text>
  CONTACT_DAYS: ReturnType<typeof wholeNumber>
  SMPP_DELIVERY_HOURS: ReturnType<typeof wholeNumber>
}>

/** Variables of a process that receives replies or drops history. */
export const processingVariables: ProcessingVariables = {
  OPTOUT_CONFIRMATION: {
    ...text({ description: 'a text that can be sent: not blank, and not too long', byDefault: defaultConfirmation }),
    _parse: (input: string) => confirmationOf(input).text,
  },
  CONTACT_DAYS: wholeNumber('days for which it is remembered who wrote last to a number', {
    min: 1,
    max: 3650,
    byDefault: processingDefaults.contactDays,
  }),
  SMPP_DELIVERY_HOURS: wholeNumber('hours for which receipts and replies wait for SMPP customers', {
    min: 1,
    max: 720,
    byDefault: processingDefaults.smppDeliveryHours,
  }),
}

export const processingSettings = (environment: {
  readonly OPTOUT_CONFIRMATION: string
  readonly CONTACT_DAYS: number
  readonly SMPP_DELIVERY_HOURS: number
}): ProcessingSettings => ({
  confirmation: confirmationOf(environment.OPTOUT_CONFIRMATION),
  contactDays: environment.CONTACT_DAYS,
  smppDeliveryHours: environment.SMPP_DELIVERY_HOURS,
})

interface WebhookVariables {
  readonly SECRETS_KEY: ReturnType<typeof listOf<string>>
  readonly WEBHOOK_ALLOW: ReturnType<typeof listOf<string>>
  readonly WEBHOOK_HTTP: ReturnType<typeof flag>
  readonly WEBHOOK_PROXY: ReturnType<typeof serverUrl>
  readonly WEBHOOK_PROXY_RESOLVES: ReturnType<typeof flag>
}

/** Variables of a process that configures webhooks or pushes to them. */
export const webhookVariables: WebhookVariables = {
  SECRETS_KEY: listOf<string>({
    description: 'keys of 32 bytes in base64 or hexadecimal, the current one first',
    read: readSecretsKey,
    byDefault: [],
  }),
  WEBHOOK_ALLOW: listOf<string>({
    description: 'addresses or networks of your own that webhooks may reach, each like 10.0.0.0/8',
    read: readNetwork,
    byDefault: [],
  }),
  WEBHOOK_HTTP: flag('webhooks may have addresses of plain http'),
  WEBHOOK_PROXY: serverUrl({
    description: 'the URL of a proxy for webhooks',
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

/**
 * Creates the secret box that seals signing secrets, and the client that pushes events. A process that pushes events
 * must close the client.
 */
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

/**
 * Names of all variables that any process or command reads (docs/configuration.md). The environment of a process may
 * contain variables that only other processes read.
 */
export const publishedVariables: readonly string[] = [
  ...Object.keys(serverVariables(0)),
  ...Object.keys(databaseVariables),
  ...Object.keys(loadVariables),
  ...Object.keys(loginVariables),
  ...Object.keys(oidcVariables),
  ...Object.keys(gatewayVariables),
  ...Object.keys(processingVariables),
  ...Object.keys(webhookVariables),
  // Variables of the apps `dispatcher` and `all-in-one`.
  'DAILY_BACKUP',
  ...[
    'CARRIERS',
    'PUBLIC_URL',
    'CARRIER_HTTP_ALLOW',
    'HEARTBEAT_URL',
    'SUMMARY_URL',
    'IN_DOUBT_MAX',
    'LEASE_SECONDS',
    'VALIDITY_HOURS',
    'RETRY_SECONDS',
  ],
  // Variables of the apps `smpp` and `all-in-one`.
  ...['SMPP_PORT', 'SMPP_TLS_PORT', 'SMPP_TLS_CERT', 'SMPP_TLS_KEY', 'SMPP_PARTS_MAX'],
  // Variables of libpq that apply in addition to DATABASE_URL.
  ...['PGSSLMODE', 'PGSSLROOTCERT', 'PGSSLCERT', 'PGSSLKEY'],
]
