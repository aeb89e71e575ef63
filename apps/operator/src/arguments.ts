import { accountId, keyId, type AccountId, type KeyId } from '@gateway/core/accounts'
import { auditSequence, type AuditSequence } from '@gateway/core/audit'
import { isPrefix, parseCredits, type Credits } from '@gateway/core/credits'
import { carrierId, type CarrierId } from '@gateway/core/dispatch'
import {
  parseCallingCode,
  parseMessageId,
  parseSenderAddress,
  readReference,
  readSender,
  readSendOption,
  type SendOptionName,
  type SendOptions,
  readSoughtNumber,
  readWrittenNumber,
  referenceCharactersMax,
  type CallingCode,
  type MessageId,
  type MessageReference,
  type Msisdn,
  type SenderAddress,
  type UnreadNumber,
  type WrittenNumber,
} from '@gateway/core/messages'
import {
  repliesByChoices,
  smppCredentialId,
  smppLimits,
  type RepliesBy,
  type SmppCredentialId,
} from '@gateway/core/smpp-customers'
import { parseMinute, secondsAfter, type Instant } from '@gateway/core/time'
import {
  parseWebhookEventId,
  listSizeMax,
  overlapHoursMax,
  webhookEventTypes,
  webhookId,
  type WebhookEventId,
  type WebhookId,
} from '@gateway/core/webhooks'
import { readNetwork } from '@gateway/server/configuration'
import { readUtcOffset, SEND_OPTION } from '@gateway/wire'
import { InvalidArgumentError } from 'commander'

/** Creates a reader of an argument. Its error states the expected form; commander adds the name of the argument. */
const read =
  <Value>(parse: (text: string) => Value | undefined, expected: string) =>
  (text: string): Value => {
    const value = parse(text)
    if (value === undefined) throw new InvalidArgumentError(`Expected ${expected}.`)
    return value
  }

const whole = (text: string): number => (/^[0-9]{1,15}$/.test(text) ? Number(text) : NaN)

const upTo = (max: number, text: string, min = 1): number | undefined => {
  const count = whole(text)
  return count >= min && count <= max ? count : undefined
}

/** An account by its id or login. `Context.accountId` looks up the login once the database is open. */
export type AccountName = AccountId | { readonly login: string }

/**
 * Reads an id or a login. Digits are read as an id if possible, so that a login of digits cannot be mistaken for the id
 * of another account.
 */
export const readAccount: (text: string) => AccountName = read((text) => {
  const id = accountId(whole(text))
  return id ?? (/^[!-~]{1,64}$/.test(text) && !/^0*$/.test(text) ? { login: text } : undefined)
}, "an account's id, a whole number without a 'W', or its login")

export const readMessageId: (text: string) => MessageId = read(parseMessageId, "a message's id: a whole number")

export const readMessageReference: (text: string) => MessageReference = read((text) => {
  const reference = readReference(text)
  return reference === 'unusable' ? undefined : reference
}, `1 to ${referenceCharactersMax} characters without control characters`)

export const readKeyId: (text: string) => KeyId = read((text) => keyId(whole(text)), "a key's id: a whole number")

export const readWebhookId: (text: string) => WebhookId = read(
  (text) => webhookId(whole(text)),
  "a webhook's id: a whole number",
)

export const readSmppCredentialId: (text: string) => SmppCredentialId = read(
  (text) => smppCredentialId(whole(text)),
  "a credential's id, as 'smpp list' shows it: a whole number",
)

/** Returns the reader of a limit of an SMPP credential. */
export const readSmppLimit = (name: 'binds' | 'window' | 'perSecond'): ((text: string) => number) =>
  read((text) => upTo(smppLimits[name], text), `a whole number from 1 to ${smppLimits[name]}`)

export const readPort: (text: string) => number = read((text) => upTo(65_535, text), 'a port from 1 to 65535')

/** Reads an offset from UTC and returns it in minutes. */
export const readReceiptOffset: (text: string) => number = read(readUtcOffset, 'an offset from UTC such as +02:00')

export const readRepliesBy: (text: string) => RepliesBy = read(
  (text) => repliesByChoices.find((choice) => choice === text),
  `one of ${repliesByChoices.join(', ')}`,
)

export const readEventId: (text: string) => WebhookEventId = read(
  parseWebhookEventId,
  "the 'id' that the event has in its request, such as message-20481-4, inbound-7 or optout-added-9",
)

/** Reads names of webhook events. */
export const readEvents: (text: string) => readonly string[] = read(
  (text) => {
    const names = text.split(',').map((name) => name.trim())
    return names.every((name) => (webhookEventTypes as readonly string[]).includes(name)) ? names : undefined
  },
  `names of events, separated by ',': ${webhookEventTypes.join(', ')}`,
)

export const readListSize: (text: string) => number = read(
  (text) => upTo(listSizeMax, text),
  `a whole number from 1 to ${listSizeMax}`,
)

export const readOverlapHours: (text: string) => number = read(
  (text) => upTo(overlapHoursMax, text, 0),
  `a whole number from 0 to ${overlapHoursMax}`,
)

export const readOffset: (text: string) => number = read((text) => upTo(Infinity, text, 0), 'a whole number from 0')

export const readCredits: (text: string) => Credits = read(
  parseCredits,
  'an amount of credits with at most one decimal, such as 100 or 12.5',
)

/** Reads whole credits. The transfer itself checks the maximum. */
export const readWholeCredits: (text: string) => number = read(
  (text) => upTo(Infinity, text, 0),
  'a whole number of credits',
)

/** Word of the command line for the empty prefix, which applies to all numbers without a prefix of their own. */
export const defaultPrefix = 'default'

/** Reads the prefix of a price; 'default' is the empty prefix. */
export const readPrefix: (text: string) => string = read((text) => {
  if (text === defaultPrefix) return ''
  return text !== '' && isPrefix(text) ? text : undefined
}, `a prefix of 1 to 15 digits, the first not 0, or '${defaultPrefix}'`)

const NUMBER_PROBLEM: Readonly<Record<UnreadNumber, string>> = {
  'no-number': 'the number is missing',
  'invalid-number': 'not a mobile number in international form',
  'national-number': 'the number begins with 0, so its country code is missing',
  'trunk-prefix': 'it has an extra 0 after its country code',
  'scientific-notation': 'a spreadsheet rounded the number (4.36E+10), so that digits are lost',
  'uncertain-number': 'it is not certain which number is meant',
}

/** Returns why a number could not be read, in words. */
export const numberProblem = (reason: UnreadNumber): string => NUMBER_PROBLEM[reason]

const numberForm = 'a mobile number in international form, such as 27825550101 or +27825550101'

const readAsWritten =
  (readNumber: (written: string) => WrittenNumber) =>
  (text: string): Msisdn => {
    const { number, unread } = readNumber(text)
    if (number !== undefined) return number
    throw new InvalidArgumentError(`Expected ${numberForm}; ${numberProblem(unread)}.`)
  }

/** Reads a number as people write it. The result of the command shows its digits. */
export const readNumber: (text: string) => Msisdn = readAsWritten(readWrittenNumber)

/** Reads a number to look up. Accepts numbers that earlier versions stored with a trunk prefix. */
export const readStoredNumber: (text: string) => Msisdn = readAsWritten(readSoughtNumber)

export const readCarrier: (text: string) => CarrierId = read(
  carrierId,
  "the name of a carrier: 1 to 32 of a-z, 0-9 and '-'",
)

export const readCode: (text: string) => SenderAddress = read(
  parseSenderAddress,
  'a short or long code: 3 to 15 digits, the first not 0',
)

const usable = <T>(value: T | undefined | 'unusable'): T | undefined => (value === 'unusable' ? undefined : value)

export const readSenderName: (text: string) => SenderAddress = read(
  (text) => usable(readSender(text)),
  'a sender: 3 to 15 digits, or 1 to 11 GSM 7-bit characters with at least one letter',
)

/**
 * Returns the reader of an option of a send. It returns undefined for a value that means the same as leaving the option
 * out, such as priority 0.
 */
export const readOption =
  <Name extends SendOptionName>(name: Name) =>
  (text: string): SendOptions[Name] => {
    const value = readSendOption(name, text)
    if (value !== 'unusable' && text.trim() !== '') return value
    throw new InvalidArgumentError(`Expected ${SEND_OPTION[name].form}.`)
  }

/** Reads prefixes of numbers, separated by commas; 'default' is the empty prefix. */
export const readPrefixes = (text: string): readonly string[] => text.split(',').map((one) => readPrefix(one.trim()))

/** Reads names of carriers, separated by commas. */
export const readCarriers = (text: string): readonly CarrierId[] =>
  text.split(',').map((one) => readCarrier(one.trim()))

/** Reads the address of a sender or recipient, which networks may write in any form. */
export const readAddress: (text: string) => string = read(
  (text) => (text.trim() === '' ? undefined : text),
  'a number or a code',
)

export const readTimes: (text: string) => number = read(
  (text) => upTo(1_000_000, text),
  'a whole number from 1 to 1000000',
)

/** Reads one or more numbers as they are written. The send reports for each number whether it is valid. */
export const readNumbers = (text: string, before: readonly string[] = []): readonly string[] => {
  const pieces = text.split(/[,;\n]+/)
  // A blank may stand inside one number or between two numbers.
  const numbers = pieces
    .flatMap((piece) => (readWrittenNumber(piece).number === undefined ? piece.split(/\s+/) : [piece.trim()]))
    .filter((number) => number !== '')
  if (numbers.length === 0) throw new InvalidArgumentError("Expected one or more numbers, separated by ','.")
  return [...before, ...numbers]
}

export const readSeconds: (text: string) => number = read(
  (text) => upTo(86_400, text),
  'a number of seconds from 1 to 86400',
)

/** Reads networks; 'any' is an empty list, which allows every address. */
export const readNetworks: (text: string) => readonly string[] = read((text) => {
  if (text === 'any') return []
  const networks = text.split(',').map((network) => network.trim())
  return networks.every((network) => readNetwork(network) !== undefined) ? networks : undefined
}, "addresses or networks in CIDR form, separated by ',', such as 192.0.2.0/24,2001:db8::/32, or 'any'")

/** Reads a country calling code; 'none' removes the country. */
export const readCallingCode: (text: string) => CallingCode | 'none' = read(
  (text) => (text === 'none' ? text : parseCallingCode(text)),
  "the calling code of a country, such as 43, or 'none'",
)

/** Reads the URL of a server, without a path. */
export const readServer: (text: string) => string = read(
  (text) => (/^https?:\/\/[^/?#]+\/?$/.test(text) && URL.canParse(text) ? text : undefined),
  'the address of a server: http://127.0.0.1:8080',
)

/** Reads a limit per second; 'none' removes the limit. */
export const readPerSecond: (text: string) => number | 'none' = read((text) => {
  if (text === 'none') return text
  const perSecond = whole(text)
  return perSecond > 0 && perSecond <= 1_000_000 ? perSecond : undefined
}, "a whole number from 1 to 1000000, or 'none'")

/** Reads a time in the wire format of the interfaces, at +02:00 (ruling 1.1). */
export const readMinute: (text: string) => Instant = read(
  parseMinute,
  'a time CCYYMMDDHHmm at GMT+2, such as 202612312359',
)

const beginOfDay = (text: string): Instant | undefined => {
  const day = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  return day === null ? undefined : parseMinute(`${day.slice(1).join('')}0000`)
}

/**
 * Returns a fixed time, or a time relative to `now`. `now` is the time of the database, which is not known until the
 * database is open.
 */
export type Moment = (now: Instant) => Instant

const fixed = (at: Instant | undefined): Moment | undefined => (at === undefined ? undefined : () => at)

/** Reads a number of days such as `7d`, after now (sign 1) or before now (sign -1). */
const days = (text: string, sign: 1 | -1): Moment | undefined => {
  const count = /^([1-9][0-9]{0,4})d$/.exec(text)?.[1]
  return count === undefined ? undefined : (now) => secondsAfter(now, sign * Number(count) * 86_400)
}

const momentForms = 'a day such as 2026-10-18 (GMT+2), a time CCYYMMDDHHmm, or a number of days ago such as 7d'

/** Reads the beginning of a period: the start of a day, a minute, or a number of days ago. */
export const readFrom: (text: string) => Moment = read(
  (text) => fixed(beginOfDay(text) ?? parseMinute(text)) ?? days(text, -1),
  momentForms,
)

/** Reads the exclusive end of a period: the end of a day, a minute, or a number of days ago. */
export const readTo: (text: string) => Moment = read((text) => {
  const day = beginOfDay(text)
  return fixed(day === undefined ? parseMinute(text) : secondsAfter(day, 86_400)) ?? days(text, -1)
}, momentForms)

/** Reads the number of a version of the carriers. */
export const readVersion: (text: string) => number = read(
  (text) => upTo(1_000_000_000, text),
  'the number of a version: a whole number from 1',
)

export const readAuditSequence: (text: string) => AuditSequence = read(
  (text) => auditSequence(whole(text)),
  'the number of an entry: a whole number from 1',
)

export const readUuid: (text: string) => string = read(
  (text) => (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? text.toLowerCase() : undefined),
  'a UUID',
)

export const readAuditHash: (text: string) => string = read(
  (text) => (/^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : undefined),
  '64 hexadecimal digits',
)

export const readLimit: (text: string) => number = read((text) => upTo(1000, text), 'a whole number from 1 to 1000')

const endOfDay = (text: string): Instant | undefined => {
  const begin = beginOfDay(text)
  return begin === undefined ? undefined : secondsAfter(begin, 86_399.999)
}

/** Reads the expiry of a key: the end of a day (GMT+2), a minute, or a number of days from now. */
export const readExpiry: (text: string) => Moment = read(
  (text) => fixed(endOfDay(text) ?? parseMinute(text)) ?? days(text, 1),
  'a day such as 2027-12-31 (its end, GMT+2), a time CCYYMMDDHHmm, or a number of days such as 90d',
)
