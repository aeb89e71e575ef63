import { readFileSync } from 'node:fs'
import { idForms } from './receipts/id-forms.ts'
import { errorClasses, type ErrorClass } from './session/error-classes.ts'
import { smppDefaults, type SmppSettings, type TonNpi } from './settings.ts'
import { smppCarrier, type SmppCarrier } from './smpp-carrier.ts'

/** Reads one parameter; throws an Error that says what it expects. */
type Read = (value: string) => Partial<SmppSettings>

const number =
  (name: keyof SmppSettings, min: number, max: number): Read =>
  (value) => {
    if (!/^\d{1,6}$/.test(value) || Number(value) < min || Number(value) > max) {
      throw new Error(`a whole number from ${min} to ${max} is expected`)
    }
    return { [name]: Number(value) }
  }

const oneOf =
  (name: keyof SmppSettings, choices: readonly string[]): Read =>
  (value) => {
    if (!choices.includes(value)) throw new Error(`one of ${choices.join(', ')} is expected`)
    return { [name]: value }
  }

const text =
  (name: keyof SmppSettings, lengthMax: number): Read =>
  (value) => {
    if (value.length > lengthMax || !/^[\x20-\x7e]*$/.test(value)) {
      throw new Error(`at most ${lengthMax} characters of ASCII are expected`)
    }
    return { [name]: value }
  }

function digits(name: 'country' | 'trunkPrefix'): Read {
  return (value) => {
    if (!/^\d{0,4}$/.test(value)) throw new Error('at most four digits are expected')
    return { [name]: value }
  }
}

function tonNpi(name: 'source' | 'destination'): Read {
  return (value) => {
    const [, ton, npi] = /^(\d{1,3})\.(\d{1,3})$/.exec(value) ?? []
    if (ton === undefined || npi === undefined || Number(ton) > 255 || Number(npi) > 255) {
      throw new Error('ton.npi is expected, such as 5.0')
    }
    return { [name]: { ton: Number(ton), npi: Number(npi) } satisfies TonNpi }
  }
}

function utcOffset(value: string): Partial<SmppSettings> {
  const [, sign, hours, minutes] = /^([+-]?)(\d\d):(\d\d)$/.exec(value.replace(' ', '+')) ?? []
  if (hours === undefined || minutes === undefined || Number(hours) > 14 || Number(minutes) > 59) {
    throw new Error('an offset such as 02:00 or -05:00 is expected')
  }
  return { utcOffsetMinutes: (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) }
}

function errors(value: string): Partial<SmppSettings> {
  const pairs = value.split(';').map((pair): [number, ErrorClass] => {
    const [, status, name] = /^(0x[0-9a-f]{1,8}|\d{1,10}):([a-z-]+)$/i.exec(pair) ?? []
    const is = errorClasses.find((one) => one === name)
    if (status === undefined || is === undefined) {
      throw new Error(`code:class;code:class is expected, such as 0x45:for-now; classes are ${errorClasses.join(', ')}`)
    }
    return [Number(status), is]
  })
  return { errors: new Map(pairs) }
}

const file = (name: 'ca' | 'cert' | 'key') => (value: string) => {
  try {
    return { [name]: readFileSync(value, 'utf8') }
  } catch (cause) {
    throw new Error(`${value} cannot be read`, { cause })
  }
}

const PARAMETERS: Readonly<Record<string, Read>> = {
  bind: oneOf('bind', ['transceiver', 'pair']),
  binds: number('binds', 1, 50),
  window: number('window', 1, 10_000),
  perSecond: number('perSecond', 1, 100_000),
  systemType: text('systemType', 12),
  addressRange: text('addressRange', 40),
  connectSeconds: number('connectSeconds', 1, 60),
  responseSeconds: number('responseSeconds', 1, 60),
  enquireSeconds: number('enquireSeconds', 1, 20),
  reconnectSecondsMax: number('reconnectSecondsMax', 1, 600),
  holdSeconds: number('holdSeconds', 1, 60),
  alphabet: oneOf('alphabet', ['gsm-7', 'gsm-7-packed', 'latin-1']),
  long: oneOf('long', ['udh-8', 'udh-16', 'sar', 'payload']),
  serviceType: text('serviceType', 5),
  protocolId: number('protocolId', 0, 255),
  priority: number('priority', 0, 3),
  validityHours: number('validityHours', 1, 720),
  source: tonNpi('source'),
  destination: tonNpi('destination'),
  numbers: oneOf('numbers', ['digits', 'plus', '00', 'national']),
  country: digits('country'),
  trunkPrefix: digits('trunkPrefix'),
  receiptId: oneOf('receiptId', idForms),
  utcOffset,
  errors,
}

const TLS_PARAMETERS: Readonly<Record<string, (value: string) => Record<string, string>>> = {
  ca: file('ca'),
  cert: file('cert'),
  key: file('key'),
  serverName: (value) => ({ serverName: value }),
}

/**
 * The settings that `smpp://systemid:password@host:port?…` or `smpps://…` stands for. Throws an Error that says what is wrong, never with the
 * password in it.
 */
export function smppSettingsFromUrl(text: string): SmppSettings {
  const url = urlOf(text)
  const isTls = url.protocol === 'smpps:'
  const port = url.port === '' ? (isTls ? 3550 : 2775) : Number(url.port)
  const place = `${url.protocol}//${url.hostname}:${port}`
  const [systemId, password] = [url.username, url.password].map(decoded)
  const fail = (why: string): never => {
    throw new Error(`The carrier ${place} cannot be used: ${why}.`)
  }
  if (url.hostname === '' || systemId === undefined || systemId === '' || password === undefined) {
    return fail('it does not read smpp://systemid:password@host:port?name=value&…, with other characters as %-escapes')
  }
  if (systemId.length > 15) return fail('the system id has more than 15 characters')
  // SMPP 3.4, 5.2.2: nine octets with the NUL.
  if (password.length > 8) return fail('the password has more than 8 characters')
  if (Array.from(systemId + password).some((one) => one === '\0' || one > '\xff')) {
    return fail('SMPP has only Latin-1, without NUL, for system ids and passwords')
  }
  if (url.pathname !== '' && url.pathname !== '/') return fail('there is a path')
  const settings = readParameters(url.searchParams, isTls, fail)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const whole: SmppSettings = { ...smppDefaults, ...settings, host, port, systemId, password }
  if (whole.numbers === 'national' && whole.country === '')
    return fail('numbers=national needs country, such as country=27')
  return whole
}

function readParameters(given: URLSearchParams, isTls: boolean, fail: (why: string) => never): Partial<SmppSettings> {
  let settings: Partial<SmppSettings> = {}
  let tls: Record<string, string> = {}
  for (const [name, value] of given) {
    if (given.getAll(name).length > 1) fail(`${name} is given twice`)
    try {
      if (Object.hasOwn(PARAMETERS, name)) settings = { ...settings, ...PARAMETERS[name]?.(value) }
      else if (isTls && Object.hasOwn(TLS_PARAMETERS, name)) tls = { ...tls, ...TLS_PARAMETERS[name]?.(value) }
      else fail(`there is no parameter ${JSON.stringify(name)}; there are ${namesFor(isTls).join(', ')}`)
    } catch (problem) {
      if (problem instanceof Error && problem.message.startsWith('The carrier')) throw problem
      fail(`${name} is wrong: ${(problem as Error).message}`)
    }
  }
  if (!isTls) return settings
  return { ...settings, tls: { serverName: tls.serverName, ca: tls.ca, cert: tls.cert, key: tls.key } }
}

const namesFor = (isTls: boolean): readonly string[] => [
  ...Object.keys(PARAMETERS),
  ...(isTls ? Object.keys(TLS_PARAMETERS) : []),
]

function urlOf(text: string): URL {
  try {
    return new URL(text)
  } catch {
    throw new Error('A carrier does not read smpp://systemid:password@host:port?name=value&…')
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The carrier of `smppSettingsFromUrl`. `report` is told of lost connections and of what cannot be read. */
export const smppCarrierFromUrl = (
  url: string,
  { id, report }: { readonly id: string; readonly report: (problem: unknown) => void },
): SmppCarrier => smppCarrier(id, smppSettingsFromUrl(url), report)
