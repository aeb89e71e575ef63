import { randomBytes } from 'node:crypto'
import {
  accountOf,
  callbackUrl,
  enteredSecrets,
  isShipped,
  isVerifiable,
  needsPath,
  providerNames,
  providerSetup,
  shippedProvider,
  tryMessage,
  type HttpSettings,
  type ProviderName,
} from '@gateway/adapters-http'
import type { CarrierId } from '@gateway/core/dispatch'
import type {
  ConnectableProvider,
  ConnectionFields,
  ConnectionObstacle,
  ConnectionRefusal,
  ConnectionTrial,
  ProviderConnection,
  ProviderConnections,
  StoredConnections,
  TrialMessage,
} from '@gateway/core/fleet'
import { OtherKeyError, requireKeyInUse } from '@gateway/core/webhooks'
import type { AgreementPorts } from './agree.ts'
import type { CarrierSpecification } from './carrier-specification.ts'
import { lookUpsRecording, type CarrierConfiguration, type CarrierSource, type Variables } from './configuration.ts'
import { fieldProblems, problemsByField } from './connection-problems.ts'
import { openCarriers, storeCarriers } from './stored-carriers.ts'

export interface ConnectionSettings {
  /** `PUBLIC_URL` and `CARRIER_HTTP_ALLOW` of this process, for carriers that are stored without them. No others. */
  readonly variables: Variables
  /**
   * True if a key that this process creates is known to all other processes. Without it, the first secret can only be
   * stored with a configured key.
   */
  readonly isKeyShared: boolean
}

/** Entry of a carrier in the document, as far as connections change it. */
interface Entry {
  readonly name: string
  readonly type?: string
  readonly provider?: unknown
  readonly baseUrl?: string
  readonly from?: string
  readonly secrets?: Readonly<Record<string, unknown>>
}

interface Document {
  readonly publicUrl?: string
  readonly carriers: readonly Entry[]
  readonly routes?: readonly { readonly name: string; readonly carriers: readonly { readonly carrier: string }[] }[]
}

/** Latest version of the carriers as it can be changed; version 0 without carriers if none is stored. */
interface Present {
  readonly version: number
  readonly document: Document
  readonly source: CarrierSource
  readonly carriers: readonly CarrierSpecification[]
}

/** Creates the port by which operators connect providers at the portal. */
export function providerConnections(ports: AgreementPorts, settings: ConnectionSettings): ProviderConnections {
  const present = async (): Promise<Present> => {
    const latest = await ports.carrierVersions.latest()
    if (latest === undefined) {
      const source = { document: { carriers: [] }, environment: {}, files: {} }
      return { version: 0, document: source.document, source, carriers: [] }
    }
    const { source, carriers } = await openCarriers(latest, ports)
    return { version: latest.version, document: source.document as Document, source, carriers }
  }

  /** Reads a changed document like any other, with the values that were stored before. */
  async function read(
    { source }: Present,
    document: Document,
    stored: Readonly<Record<string, string>> | undefined,
  ): Promise<CarrierConfiguration> {
    const lookUps = lookUpsRecording({ ...source, stored }, publicVariables(settings.variables))
    const { readDocument } = await import('./document.ts')
    const { carriers, routes } = await readDocument('the carriers', document, lookUps)
    return { carriers, routes, file: undefined, unresolved: [], source: { document, ...lookUps.found } }
  }

  async function store(next: CarrierConfiguration, after: number, storedBy: string): Promise<number | 'outdated'> {
    const version = await storeCarriers(ports, next, { after, storedBy, onPurpose: true })
    if (typeof version === 'object') throw new Error('a version was not stored although it was stored on purpose')
    return version
  }

  async function save(
    fields: ConnectionFields,
    { after, isNew, storedBy }: { readonly after: number; readonly isNew: boolean; readonly storedBy: string },
  ): Promise<number | ConnectionRefusal> {
    const obstacle = await obstacleTo(ports, settings)
    if (obstacle !== undefined) return { problems: { '': obstacleText(obstacle) } }
    const before = await present()
    if (before.version !== after) return 'outdated'
    const entry = before.document.carriers.find(({ name }) => name === fields.carrier)
    if (!isNew && (entry?.type !== 'http' || entry.provider !== fields.provider)) return 'no-such-carrier'
    if (!isShipped(fields.provider)) return { problems: { provider: 'Choose a provider of the list' } }
    const problems = fieldProblems(fields, fields.provider, entry, isNew)
    const changed = changedEntry(fields, fields.provider, entry)
    const carriers = isNew
      ? [...before.document.carriers, changed.entry]
      : before.document.carriers.map((one) => (one === entry ? changed.entry : one))
    const document = withPublicUrl({ ...before.document, carriers }, fields.publicUrl)
    const next = await read(before, document, { ...before.source.stored, ...changed.stored }).catch(
      (problem: unknown) => ({ problems: problemsByField(problem, fields.carrier) }),
    )
    if (Object.keys(problems).length === 0) return 'problems' in next ? next : store(next, after, storedBy)
    const { '': _general, ...further } = 'problems' in next ? next.problems : {}
    return { problems: { ...further, ...problems } }
  }

  async function remove(
    carrier: CarrierId,
    { after, storedBy }: { readonly after: number; readonly storedBy: string },
  ): Promise<number | ConnectionRefusal> {
    const obstacle = await obstacleTo(ports, settings)
    if (obstacle !== undefined) return { problems: { '': obstacleText(obstacle) } }
    const before = await present()
    if (before.version !== after) return 'outdated'
    const { carriers, routes = [] } = before.document
    if (!carriers.some(({ name, type }) => name === carrier && type === 'http')) return 'no-such-carrier'
    if (carriers.length === 1) return 'last-carrier'
    if (routes.some((route) => route.carriers.some((one) => one.carrier === carrier))) return 'in-use'
    const document = { ...before.document, carriers: carriers.filter(({ name }) => name !== carrier) }
    return store(await read(before, document, before.source.stored), after, storedBy)
  }

  return {
    providers: () => providerNames.map(connectable),
    stored: () => storedConnections(ports, settings, present),
    save,
    remove,
    async send(carrier, message) {
      const found = (await present()).carriers.find(({ id }) => id === carrier)
      return found?.kind === 'http' ? send(carrier, found.settings, message) : 'no-such-carrier'
    },
  }
}

/**
 * Returns only the variables that a carriers document may read at the portal. Others would let an operator of the
 * portal send secrets of the process to a server of the operator's choice.
 */
const publicVariables = ({ PUBLIC_URL, CARRIER_HTTP_ALLOW }: Variables): Variables => ({
  PUBLIC_URL,
  CARRIER_HTTP_ALLOW,
})

function connectable(name: ProviderName): ConnectableProvider {
  const { from, baseUrl, account, callbacks } = providerSetup(name)
  const { title = name, send: request } = shippedProvider(name).description
  return {
    ...{ name, title, fromHint: from, baseUrlHint: baseUrl, accountSteps: account, callbackSteps: callbacks },
    secrets: enteredSecrets(name),
    needsBaseUrl: request.url.startsWith('/'),
  }
}

async function obstacleTo(
  ports: AgreementPorts,
  { isKeyShared }: ConnectionSettings,
): Promise<ConnectionObstacle | undefined> {
  try {
    await requireKeyInUse(ports)
  } catch (problem) {
    if (problem instanceof OtherKeyError) return { is: 'other-key', reason: problem.message }
    return { is: 'unreadable', reason: (problem as Error).message }
  }
  const isFirst = (await ports.webhooks.lastSecret()) === undefined
  return isFirst && !isKeyShared && (await ports.carrierVersions.latest()) === undefined ? { is: 'no-key' } : undefined
}

const obstacleText = (obstacle: ConnectionObstacle): string =>
  obstacle.is === 'no-key' ? 'Secrets cannot be stored, because SECRETS_KEY is not set.' : obstacle.reason

async function storedConnections(
  ports: AgreementPorts,
  settings: ConnectionSettings,
  present: () => Promise<Present>,
): Promise<StoredConnections> {
  const obstacle = await obstacleTo(ports, settings)
  const known = publicVariables(settings.variables)
  try {
    const { version, document, source, carriers } = await present()
    const isHttp = ({ type }: Entry) => type === 'http'
    return {
      version,
      connections: document.carriers.filter(isHttp).map((entry) => connectionOf(entry, carriers)),
      others: document.carriers.filter((entry) => !isHttp(entry)).map(({ name }) => name as CarrierId),
      routes: (document.routes ?? []).map(({ name }) => name),
      publicUrl: document.publicUrl ?? source.environment['PUBLIC_URL'] ?? known['PUBLIC_URL'],
      obstacle,
    }
  } catch (problem) {
    const reason = (problem as Error).message
    const nothing = { version: 0, connections: [], others: [], routes: [], publicUrl: known['PUBLIC_URL'] }
    return { ...nothing, obstacle: obstacle ?? { is: 'unreadable', reason } }
  }
}

function connectionOf(entry: Entry, carriers: readonly CarrierSpecification[]): ProviderConnection {
  const { name, provider, from, baseUrl, secrets = {} } = entry
  const found = carriers.find(({ id }) => id === name)
  return {
    carrier: name as CarrierId,
    provider: typeof provider === 'string' ? provider : undefined,
    ...{ from, baseUrl, secrets: Object.keys(secrets) },
    callbackUrl: found?.kind === 'http' ? callbackOf(name, secrets, found.settings) : undefined,
  }
}

/** Returns the URL of the callbacks, with a secret only if the gateway made that secret for this URL. */
function callbackOf(name: string, secrets: NonNullable<Entry['secrets']>, settings: HttpSettings): string | undefined {
  const account = accountOf(settings)
  const { publicUrl } = settings
  if (publicUrl === undefined || !isVerifiable(account)) return undefined
  const isOurs = isReferenceTo(secrets['path'], secretNameOf(name, 'path'))
  const shown = Object.entries(account.secrets).map(
    ([secret, values]) => [secret, secret === 'path' && isOurs ? values : ['***']] as const,
  )
  return callbackUrl({ ...account, secrets: Object.fromEntries(shown) }, name, publicUrl)
}

const isReferenceTo = (secret: unknown, name: string): boolean =>
  typeof secret === 'object' && secret !== null && 'stored' in secret && secret.stored === name

const secretNameOf = (carrier: string, secret: string): string => `${carrier}.${secret}`

/** Returns the entry of a carrier with the filled-in fields, and the secrets to store for it. */
function changedEntry(
  fields: ConnectionFields,
  provider: ProviderName,
  before: Entry | undefined,
): { readonly entry: Entry; readonly stored: Readonly<Record<string, string>> } {
  const { carrier: name, from, baseUrl } = fields
  const typed = Object.entries(fields.secrets).filter(([, value]) => value !== '')
  const hasPath = before?.secrets !== undefined && 'path' in before.secrets
  const made = needsPath(provider) && !hasPath ? [['path', randomBytes(24).toString('base64url')] as const] : []
  const all = [...typed, ...made]
  const references = all.map(([secret]) => [secret, { stored: secretNameOf(name, secret) }] as const)
  const { from: _from, baseUrl: _baseUrl, ...rest } = before ?? { name }
  return {
    entry: {
      ...{ ...rest, name, type: 'http', provider },
      ...(from !== '' && { from }),
      ...(baseUrl !== '' && { baseUrl }),
      secrets: { ...before?.secrets, ...Object.fromEntries(references) },
    },
    stored: Object.fromEntries(all.map(([secret, value]) => [secretNameOf(name, secret), value])),
  }
}

function withPublicUrl({ publicUrl: _before, ...document }: Document, publicUrl: string): Document {
  return publicUrl === '' ? document : { publicUrl, ...document }
}

/** Sends one message over a connection of its own. Does not throw, whatever the provider does. */
async function send(id: CarrierId, settings: HttpSettings, { to, body }: TrialMessage): Promise<ConnectionTrial> {
  let answer: ConnectionTrial['answer']
  const { outcome, reason, reference } = await tryMessage(id, settings, { from: undefined, to, body }, (traffic) => {
    const { command, body: text } = traffic.fields as { readonly command?: unknown; readonly body?: unknown }
    if (traffic.direction === 'received' && typeof text === 'string') answer = { status: String(command), body: text }
  })
  return { outcome, reference, reason, answer }
}
