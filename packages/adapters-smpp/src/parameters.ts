import { idForms } from './receipts/id-forms.ts'
import { checkReceiptPattern } from './receipts/read-receipt.ts'
import { errorClasses, type ErrorClass, type SmppSettings, type TonNpi } from './settings.ts'

/** Setting of a carrier other than its address: text in a URL, or JSON that matches `schema` in a file. */
export interface SmppParameter {
  /** JSON Schema (draft 7) of the value. */
  readonly schema: Readonly<Record<string, unknown>>
  /** Parses the text of the setting. Throws an Error that states the expected form. */
  readonly read: (value: string) => Partial<SmppSettings>
}

const number = (name: keyof SmppSettings, min: number, max: number): SmppParameter => ({
  schema: { type: 'integer', minimum: min, maximum: max },
  read(value) {
    if (!/^\d{1,6}$/.test(value) || Number(value) < min || Number(value) > max) {
      throw new Error(`a whole number from ${min} to ${max} is expected`)
    }
    return { [name]: Number(value) }
  },
})

const oneOf = (name: keyof SmppSettings, choices: readonly string[]): SmppParameter => ({
  schema: { enum: choices },
  read(value) {
    if (!choices.includes(value)) throw new Error(`one of ${choices.join(', ')} is expected`)
    return { [name]: value }
  },
})

const text = (name: keyof SmppSettings, lengthMax: number): SmppParameter => ({
  schema: { type: 'string', maxLength: lengthMax, pattern: '^[\\x20-\\x7e]*$' },
  read(value) {
    if (value.length > lengthMax || !/^[\x20-\x7e]*$/.test(value)) {
      throw new Error(`at most ${lengthMax} characters of ASCII are expected`)
    }
    return { [name]: value }
  },
})

const digits = (name: 'country' | 'trunkPrefix'): SmppParameter => ({
  schema: { type: 'string', pattern: '^[0-9]{0,4}$' },
  read(value) {
    if (!/^\d{0,4}$/.test(value)) throw new Error('at most four digits are expected')
    return { [name]: value }
  },
})

const tonNpi = (name: 'source' | 'destination'): SmppParameter => ({
  schema: { type: 'string', pattern: '^[0-9]{1,3}\\.[0-9]{1,3}$' },
  read(value) {
    const [, ton, npi] = /^(\d{1,3})\.(\d{1,3})$/.exec(value) ?? []
    if (ton === undefined || npi === undefined || Number(ton) > 255 || Number(npi) > 255) {
      throw new Error('ton.npi is expected, such as 5.0')
    }
    return { [name]: { ton: Number(ton), npi: Number(npi) } satisfies TonNpi }
  },
})

const receiptPattern: SmppParameter = {
  schema: { type: 'string', minLength: 1, maxLength: 500 },
  read(value) {
    checkReceiptPattern(value)
    return { receiptPattern: value }
  },
}

const utcOffset: SmppParameter = {
  schema: { type: 'string', pattern: '^[+-]?[0-9]{2}:[0-9]{2}$' },
  read(value) {
    const [, sign, hours, minutes] = /^([+-]?)(\d\d):(\d\d)$/.exec(value.replace(' ', '+')) ?? []
    if (hours === undefined || minutes === undefined || Number(hours) > 14 || Number(minutes) > 59) {
      throw new Error('an offset such as 02:00 or -05:00 is expected')
    }
    return { utcOffsetMinutes: (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) }
  },
}

const errors: SmppParameter = {
  schema: {
    type: 'object',
    propertyNames: { pattern: '^(0x[0-9A-Fa-f]{1,8}|[0-9]{1,10})$' },
    additionalProperties: { enum: errorClasses },
  },
  read(value) {
    const pairs = value.split(';').map((pair): [number, ErrorClass] => {
      const [, status, name] = /^(0x[0-9a-f]{1,8}|\d{1,10}):([a-z-]+)$/i.exec(pair) ?? []
      const errorClass = errorClasses.find((one) => one === name)
      if (status === undefined || errorClass === undefined) {
        throw new Error(
          `code:class;code:class is expected, such as 0x45:for-now; classes are ${errorClasses.join(', ')}`,
        )
      }
      return [Number(status), errorClass]
    })
    return { errors: new Map(pairs) }
  },
}

/** Settings of every SMPP carrier, by name (docs/carriers.md, "Settings"). */
export const smppParameters: Readonly<Record<string, SmppParameter>> = {
  bind: oneOf('bind', ['transceiver', 'pair']),
  binds: number('binds', 1, 50),
  bindsMax: number('bindsMax', 1, 1000),
  window: number('window', 1, 10_000),
  perSecond: number('perSecond', 1, 100_000),
  systemType: text('systemType', 12),
  addressRange: text('addressRange', 40),
  connectSeconds: number('connectSeconds', 1, 60),
  responseSeconds: number('responseSeconds', 1, 60),
  enquireSeconds: number('enquireSeconds', 1, 20),
  reconnectSecondsMax: number('reconnectSecondsMax', 1, 600),
  slowSeconds: number('slowSeconds', 1, 60),
  silentSeconds: number('silentSeconds', 1, 60),
  failuresPercent: number('failuresPercent', 1, 100),
  probeSeconds: number('probeSeconds', 1, 600),
  probeSecondsMax: number('probeSecondsMax', 1, 600),
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
  receiptNumbers: oneOf('receiptNumbers', ['digits', 'plus', '00', 'national', 'none']),
  receiptId: oneOf('receiptId', idForms),
  receiptPattern,
  queryUnknownSeconds: number('queryUnknownSeconds', 1, 3600),
  utcOffset,
  errors,
}

interface TlsParameter {
  readonly schema: SmppParameter['schema']
  /** Parses the text of the setting. `readFile` returns the text of a file, or throws. */
  readonly read: (value: string, readFile: (path: string) => string) => Record<string, string>
}

const file = (name: 'ca' | 'cert' | 'key'): TlsParameter => ({
  schema: { type: 'string', minLength: 1 },
  read(value, readFile) {
    try {
      return { [name]: readFile(value) }
    } catch (cause) {
      throw new Error(`${value} cannot be read`, { cause })
    }
  },
})

/** Additional settings of a carrier over TLS. */
export const tlsParameters: Readonly<Record<string, TlsParameter>> = {
  ca: file('ca'),
  cert: file('cert'),
  key: file('key'),
  serverName: { schema: { type: 'string', minLength: 1 }, read: (value) => ({ serverName: value }) },
}
