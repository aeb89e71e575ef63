import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { HttpSettings } from '@gateway/adapters-http'
import { smppDefaults, type SmppSettings } from '@gateway/adapters-smpp'
import type { Route } from '@gateway/core/routes'
import type { CarrierSpecification } from './carrier-specification.ts'
import type { CarrierConfiguration } from './configuration.ts'

type Settings = Readonly<Record<string, string>>

/**
 * Normalized carriers and routes of a configuration. Configurations with the same effect have the same `Meaning`,
 * however they are written.
 */
export interface Meaning {
  /** All settings of each carrier, by the name of the carrier. */
  readonly carriers: Readonly<Record<string, Settings>>
  /** Routes with their settings, in the order in which they are tried. */
  readonly routes: readonly { readonly name: string; readonly settings: Settings }[]
}

/** Difference between two configurations, without the values of secrets. */
export interface CarrierDifference {
  /** Name of the changed thing: `carrier vodacom`, `route all`, or `routes` for the order of the routes. */
  readonly subject: string
  /** Changed setting; undefined if the whole carrier or route was added or removed. */
  readonly setting: string | undefined
  /** Value before the change; undefined if there was none. */
  readonly before: string | undefined
  readonly after: string | undefined
}

export const meaningOf = ({ carriers, routes }: Pick<CarrierConfiguration, 'carriers' | 'routes'>): Meaning => ({
  carriers: sorted(carriers.map((one) => [one.id, settingsOf(one)])),
  routes: routes.map((route) => ({ name: route.name, settings: settingsOfRoute(route) })),
})

/**
 * Returns the simulated carriers and routes of a process that runs without a stored version, as JSON. Two texts are
 * equal exactly if the configurations have the same meaning.
 */
export const simulatedText = (configuration: CarrierConfiguration): string => JSON.stringify(meaningOf(configuration))
export const simulatedFrom = (text: string): Meaning => JSON.parse(text) as Meaning

/** Returns the SHA-256, in hexadecimal, of the meaning of a configuration without its secrets. */
export function digestOf(configuration: CarrierConfiguration): string {
  const { carriers, routes } = meaningOf(configuration)
  const open = Object.entries(carriers).map(([name, settings]) => [
    name,
    Object.entries(settings).filter(([setting]) => !hidden.has(setting)),
  ])
  return hash('sha256', JSON.stringify([open, routes]), 'hex')
}

/** Returns all differences, those of carriers first. */
export function differencesOf(before: Meaning, after: Meaning): readonly CarrierDifference[] {
  const routesOf = ({ routes }: Meaning) => Object.fromEntries(routes.map(({ name, settings }) => [name, settings]))
  return [
    ...differing('carrier', before.carriers, after.carriers),
    ...differing('route', routesOf(before), routesOf(after)),
    ...ofOrder(before.routes, after.routes),
  ]
}

/** Formats a difference as one line: `carrier vodacom: window 50 -> 10`. */
export function differenceText({ subject, setting, before, after }: CarrierDifference): string {
  if (setting === undefined) return before === undefined ? `${subject}: new, ${after ?? ''}` : `${subject}: removed`
  if (hidden.has(setting)) return `${subject}: ${setting} differs (not shown)`
  return `${subject}: ${setting} ${before ?? 'none'} -> ${after ?? 'none'}`
}

const hidden: ReadonlySet<string> = new Set(['password', 'ca', 'cert', 'key', 'secrets'])
const notShown = '(not shown)'

function differing(
  kind: 'carrier' | 'route',
  before: Readonly<Record<string, Settings>>,
  after: Readonly<Record<string, Settings>>,
): readonly CarrierDifference[] {
  return union(before, after).flatMap((name): readonly CarrierDifference[] => {
    const subject = `${kind} ${name}`
    const [was, is] = [own(before, name), own(after, name)]
    const titles = { subject, before: was && titleOf(was), after: is && titleOf(is) }
    if (was === undefined || is === undefined) return [{ ...titles, setting: undefined }]
    if (was['kind'] !== is['kind']) return [{ ...titles, setting: 'kind' }]
    return union(was, is).flatMap((setting) => {
      if (was[setting] === is[setting]) return []
      const shown = (value: string | undefined) => (value !== undefined && hidden.has(setting) ? notShown : value)
      return [{ subject, setting, before: shown(was[setting]), after: shown(is[setting]) }]
    })
  })
}

/** Returns a short description of a carrier or route. */
function titleOf({ kind, host, port, provider, carriers = '' }: Settings): string {
  if (kind === undefined) return carriers
  if (provider !== undefined) return `${kind} to ${provider}`
  return host === undefined ? kind : `${kind} to ${host}:${port ?? ''}`
}

function ofOrder(before: Meaning['routes'], after: Meaning['routes']): readonly CarrierDifference[] {
  const shared = (some: Meaning['routes'], others: Meaning['routes']) =>
    some.map(({ name }) => name).filter((name) => others.some((other) => other.name === name))
  const [was, is] = [shared(before, after), shared(after, before)]
  if (isDeepStrictEqual(was, is)) return []
  return [{ subject: 'routes', setting: 'order', before: was.join(', '), after: is.join(', ') }]
}

const own = <Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

const union = (one: object, other: object): readonly string[] => [
  ...new Set([...Object.keys(one), ...Object.keys(other)]),
]

const sorted = <Value>(entries: readonly (readonly [string, Value])[]): Readonly<Record<string, Value>> =>
  Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))

function settingsOf(carrier: CarrierSpecification): Settings {
  if (carrier.kind === 'smpp') return smppText(carrier.settings)
  if (carrier.kind === 'http') return httpText(carrier.settings)
  const { delayMilliseconds = 1000, window = 1000, perSecond } = carrier.settings
  return textsOf({ kind: 'simulator', delayMs: delayMilliseconds, window, perSecond })
}

function smppText({ host, port, tls, systemId, password, source, destination, errors, ...rest }: SmppSettings) {
  const { utcOffsetMinutes, interfaceVersion, reconnectSeconds, partsSeconds, storeSeconds, ...named } = rest
  const constants = { interfaceVersion, reconnectSeconds, partsSeconds, storeSeconds }
  const changed = Object.entries(constants).filter(([name, value]) => value !== own(smppDefaults, name))
  const codes = [...errors].toSorted(([one], [other]) => one - other)
  return textsOf({
    ...{ kind: tls === undefined ? 'smpp' : 'smpps', host, port, systemId, password, ...tls, ...named },
    ...{ source: source && `${source.ton}.${source.npi}`, utcOffset: utcOffsetMinutes && offsetText(utcOffsetMinutes) },
    destination: destination && `${destination.ton}.${destination.npi}`,
    errors: codes.length === 0 ? undefined : codes.map(([code, means]) => `0x${code.toString(16)}:${means}`).join(';'),
    ...Object.fromEntries(changed),
  })
}

/**
 * Returns the settings of a carrier over HTTP. A custom provider description appears as its title and a hash, because
 * its full text is long.
 */
function httpText({ provider, secrets, callbackNetworks, ...rest }: HttpSettings): Settings {
  const json = JSON.stringify(provider)
  const own =
    typeof provider === 'string' ? provider : `${provider.title ?? 'own'} ${hash('sha256', json, 'hex').slice(0, 12)}`
  return textsOf({
    ...{ kind: 'http', provider: own, secrets: JSON.stringify(sorted(Object.entries(secrets))), ...rest },
    callbackNetworks: callbackNetworks?.join(', '),
  })
}

const offsetText = (minutes: number): string => {
  const digits = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${minutes < 0 ? '-' : '+'}${digits.map((each) => String(each).padStart(2, '0')).join(':')}`
}

const settingsOfRoute = ({ prefixes, accounts, senders, carriers, overflow }: Route): Settings => ({
  ...textsOf({
    ...{ prefixes: setText(prefixes), accounts: setText(accounts), senders: setText(senders) },
    overflow: overflow && `single ${overflow.single}, bulk ${overflow.bulk}`,
  }),
  carriers: carriers
    .map(({ carrier, priority, weight }) => `${carrier} (priority ${priority}, weight ${weight})`)
    .join(', '),
})

const setText = (values: readonly (string | number)[]): string | undefined =>
  values.length === 0 ? undefined : values.map(String).toSorted().join(', ')

/** Converts the values to settings, sorted by name. Omits undefined values. */
const textsOf = (values: Readonly<Record<string, string | number | undefined>>): Settings =>
  sorted(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const])),
  )
