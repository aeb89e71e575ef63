import type { Credentials } from '@gateway/core/accounts'
import { keyCharactersMax, readIdempotencyKey } from '@gateway/core/client-requests'
import {
  readReference,
  readSender,
  readSendOptions,
  referenceCharactersMax,
  sendOptionNames,
} from '@gateway/core/messages'
import type { ParsedBody } from '@gateway/server'
import { optionWords, percentDecode, trimWhiteSpace } from '@gateway/wire'
import { errorText } from './answer.ts'

/** The parameters of a request by their names in lower case: every value in its order, decoded (ruling 3.1). */
export type Parameters = ReadonlyMap<string, readonly string[]>

/**
 * Reads queries and form bodies, each with one character for each byte. Letter case of names does not count, A to Z.
 */
export function readParameters(...sources: readonly string[]): Parameters {
  const parameters = new Map<string, string[]>()
  for (const source of sources) {
    for (const pair of source.split('&')) {
      if (pair === '') continue
      const equals = pair.indexOf('=')
      const name = lowerCase(decode(equals === -1 ? pair : pair.slice(0, equals)))
      const value = equals === -1 ? '' : decode(pair.slice(equals + 1))
      const before = parameters.get(name)
      if (before === undefined) parameters.set(name, [value])
      else before.push(value)
    }
  }
  return parameters
}

/**
 * Decodes a name or value whose unescaped bytes are one character each (latin1); they count as escaped ones (ruling
 * 3.1).
 */
const decode = (raw: string): string =>
  percentDecode(raw.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`))

/** Of A to Z only: others have letters of ASCII as their lower case, as the Kelvin sign has `k` (ruling 3.1). */
const lowerCase = (name: string): string => name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/**
 * A form with one character for each byte, without one line break at its very end, which many clients add (ruling 3.1).
 * One that was parsed before it came to us is written anew; nobody can tell there whether the last line break was
 * escaped.
 */
export function formText(form: Buffer | ParsedBody): string {
  if (!('parsed' in form)) return form.toString('latin1').replace(/\r?\n$/, '')
  const pairs = Object.entries(form.parsed ?? {}).flatMap(([name, value]: [string, unknown]) =>
    [value]
      .flat()
      .map((one) => (typeof one === 'string' ? `${encodeURIComponent(name)}=${encodeURIComponent(one)}` : '')),
  )
  return pairs.join('&').replace(/(?:%0D)?%0A$/, '')
}

/** Of a parameter given more than once the first counts. Undefined: not given, or with U+0000 in it (ruling 3.1). */
export const first = (parameters: Parameters, name: string): string | undefined => withoutNul(parameters.get(name)?.[0])

/** `true` or `1`, in any letter case (ruling 3.1). */
export const isTrue = (parameters: Parameters, name: string): boolean =>
  /^(?:true|1)$/i.test(first(parameters, name) ?? '')

/**
 * The pieces of a list, from all the times it was given: split at `;`, trimmed, empty ones dropped (rulings 3.1, 3.4).
 * None if there is U+0000 in it.
 */
export const list = (parameters: Parameters, name: string): readonly string[] =>
  (withoutNul(parameters.get(name)?.join(';')) ?? '')
    .split(';')
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')

const withoutNul = (value: string | undefined): string | undefined => (value?.includes('\0') ? undefined : value)

/** A reference of the client (ruling 1.24). */
export const clientRef = {
  name: 'clientref',
  form: `names the request, 1 to ${keyCharactersMax} printable characters: repeated with it, it is done once`,
}

/** `clientref` (ruling 1.24): a blank one is none, and one with U+0000 is unusable. */
export const clientReference = (parameters: Parameters): ReturnType<typeof readIdempotencyKey> =>
  readIdempotencyKey(parameters.get('clientref')?.[0])

/** What a message is called (ruling 1.28). */
export const reference = {
  name: 'reference',
  form: `what the messages are called, up to ${referenceCharactersMax} characters, no control characters`,
}

/** `reference` (ruling 1.28): one with U+0000 is unusable. */
export const messageReference = (parameters: Parameters): ReturnType<typeof readReference> =>
  readReference(parameters.get('reference')?.[0])

/** Parameters that are options of the send. */
export const sendOptions = sendOptionNames.map((name) => {
  const { query, meaning } = optionWords(name)
  return { name: query, form: meaning }
})

/** Reads the options of the send; one with U+0000 is unusable. */
export const messageOptions = (parameters: Parameters): ReturnType<typeof readSendOptions> =>
  readSendOptions((name) => parameters.get(optionWords(name).query)?.[0])

/** What messages come from (ruling 1.27). */
export const sender = {
  name: 'sender',
  form: 'what the messages come from: 3 to 15 digits, or 1 to 11 characters with a letter, as the account may use it',
}

/** `sender` (ruling 1.27): one with U+0000 is unusable. */
export const messageSender = (parameters: Parameters): ReturnType<typeof readSender> =>
  readSender(parameters.get('sender')?.[0])

const idsMax = 100

/** What `messageIds` reads. */
export const messageIdParameter = { name: 'messageid', form: `1 to ${idsMax} ids, ; between`, needed: true }
/** What it answers if that is wrong. */
export const messageIdErrors = ['No message ids supplied', 'Too many message ids supplied'].map(errorText)

/** How many pieces `messageid` has. */
export const messageIdCount = (parameters: Parameters): number => list(parameters, 'messageid').length

/** `messageid`: 1 to 100 pieces, as given; otherwise the answer that says what is wrong (ruling 3.5). */
export function messageIds(parameters: Parameters): readonly string[] | string {
  const ids = list(parameters, 'messageid')
  if (ids.length === 0) return errorText('No message ids supplied')
  return ids.length > idsMax ? errorText('Too many message ids supplied') : ids
}

/**
 * The credentials of a request: a key, a user with a password, or both, without white space around them. A blank one,
 * or one with U+0000 in it, counts as not given (ruling 3.1). Undefined: none are given, or one is given twice (ruling
 * 3.3).
 */
export function credentialsOf(parameters: Parameters): Pick<Credentials, 'apiKey' | 'pair'> | undefined {
  const apiKey = given(parameters, 'apikey')
  const user = given(parameters, 'user')
  const password = given(parameters, 'password')
  if (apiKey.length > 1 || user.length > 1 || password.length > 1) return undefined
  const pair = pairOf(user[0], password[0])
  return apiKey[0] === undefined && pair === undefined ? undefined : { apiKey: apiKey[0], pair }
}

const given = (parameters: Parameters, name: string): readonly string[] =>
  (parameters.get(name) ?? []).filter((value) => value.trim() !== '' && !value.includes('\0')).map(trimWhiteSpace)

const pairOf = (user: string | undefined, password: string | undefined): Credentials['pair'] =>
  user === undefined || password === undefined ? undefined : { user, password }
