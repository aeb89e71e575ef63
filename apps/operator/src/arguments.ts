import { accountId, keyId, type AccountId, type KeyId } from '@gateway/core/accounts'
import { auditSequence, type AuditSequence } from '@gateway/core/audit'
import { isPrefix, parseCredits, type Credits } from '@gateway/core/credits'
import { carrierId, type CarrierId } from '@gateway/core/dispatch'
import {
  parseMessageId,
  parseSenderAddress,
  readReference,
  readSender,
  readSoughtNumber,
  readValidity,
  readWrittenNumber,
  referenceCharactersMax,
  priorityMax,
  readPriority,
  type Priority,
  validityMinutesMax,
  type MessageId,
  type MessageReference,
  type Msisdn,
  type SenderAddress,
  type UnreadNumber,
  type ValidityMinutes,
  type WrittenNumber,
} from '@gateway/core/messages'
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
import { InvalidArgumentError } from 'commander'

/** Reads an argument or says what it must look like; commander names the argument in its message. */
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

/** An account by its id, or by its login, which is looked up when the database is open (`Context.accountId`). */
export type AccountName = AccountId | { readonly login: string }

/** Digits that can be an id are one, so that nobody takes the account of another by a login of digits. */
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

export const readEventId: (text: string) => WebhookEventId = read(
  parseWebhookEventId,
  "the 'id' of an event as its endpoint got it, such as message-20481-4, inbound-7 or optout-added-9",
)

/** Names of events that a webhook gets. */
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

/** Whole credits; how many may be moved at once is the transfer's to say. */
export const readWholeCredits: (text: string) => number = read(
  (text) => upTo(Infinity, text, 0),
  'a whole number of credits',
)

/** How the command line calls the prefix of all other numbers, which is empty. */
export const defaultPrefix = 'default'

/** The prefix of a price; 'default' is the empty one. */
export const readPrefix: (text: string) => string = read((text) => {
  if (text === defaultPrefix) return ''
  return text !== '' && isPrefix(text) ? text : undefined
}, `a prefix of 1 to 15 digits, the first not 0, or '${defaultPrefix}'`)

const NUMBER_PROBLEM: Readonly<Record<UnreadNumber, string>> = {
  'no-number': 'no number is written',
  'invalid-number': 'not a mobile number in international form',
  'national-number': 'the number begins with 0: its country code is missing',
  'trunk-prefix': 'a 0 too many stands after its country code',
  'scientific-notation': 'a spreadsheet rounded the number (4.36E+10): its digits are lost',
  'uncertain-number': 'not certain which number is meant',
}

/** Why a number of a file or an argument is not read, in words. */
export const numberProblem = (reason: UnreadNumber): string => NUMBER_PROBLEM[reason]

const numberForm = 'a mobile number in international form, such as 27825550101 or +27825550101'

const readAsWritten =
  (readNumber: (written: string) => WrittenNumber) =>
  (text: string): Msisdn => {
    const { number, unread } = readNumber(text)
    if (number !== undefined) return number
    throw new InvalidArgumentError(`Expected ${numberForm}; ${numberProblem(unread)}.`)
  }

/** Reads a number as people write it; the outcome of the command shows its digits. */
export const readNumber: (text: string) => Msisdn = readAsWritten(readWrittenNumber)

/** Reads a number that is looked up, not written to: one that an earlier version stored with a trunk prefix passes. */
export const readStoredNumber: (text: string) => Msisdn = readAsWritten(readSoughtNumber)

export const readCarrier: (text: string) => CarrierId = read(
  carrierId,
  "the name of a carrier: 1 to 32 of a-z, 0-9 and '-'",
)

export const readCode: (text: string) => SenderAddress = read(
  parseSenderAddress,
  'a short or long code: 3 to 15 digits, the first not 0',
)

const usable = <T>(read: T | undefined | 'unusable'): T | undefined => (read === 'unusable' ? undefined : read)

export const readSenderName: (text: string) => SenderAddress = read(
  (text) => usable(readSender(text)),
  'a sender: 3 to 15 digits, or 1 to 11 GSM 7-bit characters with at least one letter',
)

export const readValidMinutes: (text: string) => ValidityMinutes = read(
  (text) => usable(readValidity(text)),
  `minutes: a whole number from 1 to ${validityMinutesMax}`,
)

export const readPriorityOption: (text: string) => Priority = read(
  (text) => usable(readPriority(text)),
  `a priority: 0 to ${priorityMax}`,
)

/** Prefixes of numbers, with commas between; 'default' is the empty one. */
export const readPrefixes = (text: string): readonly string[] => text.split(',').map((one) => readPrefix(one.trim()))

/** Names of carriers, with commas between. */
export const readCarriers = (text: string): readonly CarrierId[] =>
  text.split(',').map((one) => readCarrier(one.trim()))

/** As a network may tell it: any text. */
export const readAddress: (text: string) => string = read(
  (text) => (text.trim() === '' ? undefined : text),
  'a number or a code',
)

export const readTimes: (text: string) => number = read(
  (text) => upTo(1_000_000, text),
  'a whole number from 1 to 1000000',
)

/** Reads one or more numbers as they are written; whether each can be sent to is reported number by number. */
export const readNumbers = (text: string, before: readonly string[] = []): readonly string[] => {
  const pieces = text.split(/[,;\n]+/)
  // A space stands inside a number, or between two of them.
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

/** Networks from which something may be used; 'any': from anywhere, as an empty list. */
export const readNetworks: (text: string) => readonly string[] = read((text) => {
  if (text === 'any') return []
  const networks = text.split(',').map((network) => network.trim())
  return networks.every((network) => readNetwork(network) !== undefined) ? networks : undefined
}, "addresses or networks in CIDR form, separated by ',', such as 192.0.2.0/24,2001:db8::/32, or 'any'")

/** A server, without a path. */
export const readServer: (text: string) => string = read(
  (text) => (/^https?:\/\/[^/?#]+\/?$/.test(text) && URL.canParse(text) ? text : undefined),
  'the address of a server: http://127.0.0.1:8080',
)

/** How much an account may have a second; 'none': no limit. */
export const readPerSecond: (text: string) => number | 'none' = read((text) => {
  if (text === 'none') return text
  const perSecond = whole(text)
  return perSecond > 0 && perSecond <= 1_000_000 ? perSecond : undefined
}, "a whole number from 1 to 1000000, or 'none'")

/** The wire format of the interfaces, at +02:00 (ruling 1.1). */
export const readMinute: (text: string) => Instant = read(
  parseMinute,
  'a time CCYYMMDDHHmm at GMT+2, such as 202612312359',
)

const beginOfDay = (text: string): Instant | undefined => {
  const day = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  return day === null ? undefined : parseMinute(`${day.slice(1).join('')}0000`)
}

/**
 * A moment of the calendar, or one that is told by how far it is from now: the database's time, which is not known yet.
 */
export type Moment = (now: Instant) => Instant

const fixed = (at: Instant | undefined): Moment | undefined => (at === undefined ? undefined : () => at)

/** So many days from now, or before it; `7d`. */
const days = (text: string, sign: 1 | -1): Moment | undefined => {
  const count = /^([1-9][0-9]{0,4})d$/.exec(text)?.[1]
  return count === undefined ? undefined : (now) => secondsAfter(now, sign * Number(count) * 86_400)
}

const momentForms = 'a day such as 2026-10-18 (GMT+2), a time CCYYMMDDHHmm, or a number of days ago such as 7d'

/** The beginning of a period: of the day, at the minute, or so many days ago. */
export const readFrom: (text: string) => Moment = read(
  (text) => fixed(beginOfDay(text) ?? parseMinute(text)) ?? days(text, -1),
  momentForms,
)

/** The end of a period, which is no part of it: after the day, at the minute, or so many days ago. */
export const readTo: (text: string) => Moment = read((text) => {
  const day = beginOfDay(text)
  return fixed(day === undefined ? parseMinute(text) : secondsAfter(day, 86_400)) ?? days(text, -1)
}, momentForms)

/** Of stored carriers. */
export const readVersion: (text: string) => number = read(
  (text) => upTo(1_000_000_000, text),
  'the number of a version: a whole number from 1',
)

/** How many rows a page has. */
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

/** When a key ends: after a day (GMT+2), at a minute, or so many days from now. */
export const readExpiry: (text: string) => Moment = read(
  (text) => fixed(endOfDay(text) ?? parseMinute(text)) ?? days(text, 1),
  'a day such as 2027-12-31 (its end, GMT+2), a time CCYYMMDDHHmm, or a number of days such as 90d',
)
