import type { Reporting } from '@gateway/carrier-kit'
import { readFileSync } from 'node:fs'
import { smppParameters, tlsParameters } from './parameters.ts'
import { smppDefaults, type SmppSettings } from './settings.ts'
import { smppCarrier, type SmppCarrier } from './smpp-carrier.ts'

/** Address of a carrier and the credentials to bind with. */
export interface SmppAddress {
  readonly host: string
  /** If undefined, 2775, or 3550 with TLS. */
  readonly port: number | undefined
  readonly isTls: boolean
  readonly systemId: string
  readonly password: string
}

type Fail = (reason: string) => never

/**
 * Maximum length of a system id or password. SMPP 3.4 allows 15 and 8 characters (5.2.1, 5.2.2), but many carriers
 * issue longer ones.
 */
const credentialMax = 64

type ReadFile = (path: string) => string

const readText: ReadFile = (path) => readFileSync(path, 'utf8')

/**
 * Builds the settings of a carrier from its address and the parameters of its URL. `readFile` reads the certificate
 * files that parameters name. Throws an Error that states the problem and never contains the password.
 */
export function smppSettingsOf(
  { host, port: portOrDefault, isTls, systemId, password }: SmppAddress,
  parameters: readonly (readonly [name: string, value: string])[],
  readFile = readText,
): SmppSettings {
  const port = portOrDefault ?? (isTls ? 3550 : 2775)
  const fail = failAt(isTls, host, port)
  if (systemId === '') return fail('the system id is empty')
  if (systemId.length > credentialMax) return fail(`the system id has more than ${credentialMax} characters`)
  if (password.length > credentialMax) return fail(`the password has more than ${credentialMax} characters`)
  if (Array.from(systemId + password).some((one) => one === '\0' || one > '\xff')) {
    return fail('system ids and passwords must be Latin-1 without NUL in SMPP')
  }
  const settings = readParameters(parameters, isTls, readFile, fail)
  const whole: SmppSettings = { ...smppDefaults, ...settings, host, port, systemId, password }
  for (const name of ['numbers', 'receiptNumbers'] as const) {
    if (whole[name] === 'national' && whole.country === '') {
      return fail(`${name}=national needs country, such as country=27`)
    }
  }
  return whole
}

/** Parses `smpp://systemid:password@host:port?…` or `smpps://…`. Throws as `smppSettingsOf` does. */
export function smppSettingsFromUrl(text: string, readFile?: ReadFile): SmppSettings {
  const url = urlOf(text)
  const isTls = url.protocol === 'smpps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? undefined : Number(url.port)
  const [systemId, password] = [url.username, url.password].map(decoded)
  const fail = failAt(isTls, host, port ?? (isTls ? 3550 : 2775))
  if (host === '' || systemId === undefined || systemId === '' || password === undefined) {
    return fail('expected smpp://systemid:password@host:port?name=value&…, with special characters as %-escapes')
  }
  if (url.pathname !== '' && url.pathname !== '/') return fail('the URL has a path, which is not allowed')
  return smppSettingsOf({ host, port, isTls, systemId, password }, [...url.searchParams], readFile)
}

function failAt(isTls: boolean, host: string, port: number): Fail {
  const place = `${isTls ? 'smpps' : 'smpp'}://${host.includes(':') ? `[${host}]` : host}:${port}`
  return (reason) => {
    throw new Error(`The carrier ${place} cannot be used: ${reason}.`)
  }
}

function readParameters(
  parameters: readonly (readonly [name: string, value: string])[],
  isTls: boolean,
  readFile: ReadFile,
  fail: Fail,
): Partial<SmppSettings> {
  let settings: Partial<SmppSettings> = {}
  let tls: Record<string, string> = {}
  for (const [name, value] of parameters) {
    if (parameters.filter(([other]) => other === name).length > 1) fail(`${name} is given twice`)
    const [plain, secure] = [own(smppParameters, name), isTls ? own(tlsParameters, name) : undefined]
    if (plain === undefined && secure === undefined) {
      fail(`unknown parameter ${JSON.stringify(name)}; expected one of ${namesFor(isTls).join(', ')}`)
    }
    try {
      settings = { ...settings, ...plain?.read(value) }
      tls = { ...tls, ...secure?.read(value, readFile) }
    } catch (problem) {
      fail(`${name} is wrong: ${(problem as Error).message}`)
    }
  }
  if (!isTls) return settings
  return { ...settings, tls: { serverName: tls.serverName, ca: tls.ca, cert: tls.cert, key: tls.key } }
}

const own = <Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

const namesFor = (isTls: boolean): readonly string[] => [
  ...Object.keys(smppParameters),
  ...(isTls ? Object.keys(tlsParameters) : []),
]

function urlOf(text: string): URL {
  try {
    return new URL(text)
  } catch {
    throw new Error('A carrier URL has the form smpp://systemid:password@host:port?name=value&…')
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * Creates the carrier of a URL (see `smppSettingsFromUrl`). `report` is called for links that fail and for PDUs that
 * cannot be read.
 */
export const smppCarrierFromUrl = (
  url: string,
  { id, ...reporting }: { readonly id: string } & Reporting,
): SmppCarrier => smppCarrier(id, smppSettingsFromUrl(url), reporting)
