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

/** Parameters of a request by lower-case name: all decoded values in their order (ruling 3.1). */
export type Parameters = ReadonlyMap<string, readonly string[]>

/**
 * Reads queries and form bodies, in which each character stands for one byte. Letter case of A to Z in names does not
 * matter.
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

/** Decodes a name or value in latin1. Unescaped bytes are treated like escaped ones (ruling 3.1). */
const decode = (raw: string): string =>
  percentDecode(raw.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`))

/**
 * Lower-cases A to Z only, because other characters can have an ASCII letter as lower case: the Kelvin sign becomes `k`
 * (ruling 3.1).
 */
const lowerCase = (name: string): string => name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/**
 * Returns the text of a form in latin1, without one trailing line break, which many clients add (ruling 3.1). If the
 * surrounding app has parsed the form, it is serialized again. In that case it is unknown whether the trailing line
 * break was escaped.
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

/** Returns the first value of a parameter, or undefined if it is missing or contains U+0000 (ruling 3.1). */
export const first = (parameters: Parameters, name: string): string | undefined => withoutNul(parameters.get(name)?.[0])

/** True for `true` or `1`, in any letter case (ruling 3.1). */
export const isTrue = (parameters: Parameters, name: string): boolean =>
  /^(?:true|1)$/i.test(first(parameters, name) ?? '')

/**
 * Returns the pieces of a list from all occurrences of the parameter: split at `;`, trimmed, without empty ones
 * (rulings 3.1, 3.4). Empty if the parameter contains U+0000.
 */
export const list = (parameters: Parameters, name: string): readonly string[] =>
  (withoutNul(parameters.get(name)?.join(';')) ?? '')
    .split(';')
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')

const withoutNul = (value: string | undefined): string | undefined => (value?.includes('\0') ? undefined : value)

/** Parameter by which a client repeats a request safely (ruling 1.24). */
export const clientRef = {
  name: 'clientref',
  form: `identifies the request, 1 to ${keyCharactersMax} printable characters: a repeated request with it is carried out once`,
}

/** Reads `clientref` (ruling 1.24). A blank value counts as missing, one with U+0000 is unusable. */
export const clientReference = (parameters: Parameters): ReturnType<typeof readIdempotencyKey> =>
  readIdempotencyKey(parameters.get('clientref')?.[0])

/** Parameter with the client's name for the messages (ruling 1.28). */
export const reference = {
  name: 'reference',
  form: `your name for the messages, up to ${referenceCharactersMax} characters, no control characters`,
}

/** Reads `reference` (ruling 1.28). A value with U+0000 is unusable. */
export const messageReference = (parameters: Parameters): ReturnType<typeof readReference> =>
  readReference(parameters.get('reference')?.[0])

/** Parameters that are options of the send. */
export const sendOptions = sendOptionNames.map((name) => {
  const { query, meaning } = optionWords(name)
  return { name: query, form: meaning }
})

/** Reads the options of the send. A value with U+0000 is unusable. */
export const messageOptions = (parameters: Parameters): ReturnType<typeof readSendOptions> =>
  readSendOptions((name) => parameters.get(optionWords(name).query)?.[0])

/** Parameter with the sender of the messages (ruling 1.27). */
export const sender = {
  name: 'sender',
  form: 'the sender: 3 to 15 digits, or 1 to 11 characters with a letter; the account must be allowed to use it',
}

/** Reads `sender` (ruling 1.27). A value with U+0000 is unusable. */
export const messageSender = (parameters: Parameters): ReturnType<typeof readSender> =>
  readSender(parameters.get('sender')?.[0])

const idsMax = 100

/** Parameter that `messageIds` reads. */
export const messageIdParameter = { name: 'messageid', form: `1 to ${idsMax} ids, separated by ;`, needed: true }
/** Errors that `messageIds` returns. */
export const messageIdErrors = ['No message ids supplied', 'Too many message ids supplied'].map(errorText)

/** Returns the number of pieces of `messageid`. */
export const messageIdCount = (parameters: Parameters): number => list(parameters, 'messageid').length

/** Returns the 1 to 100 pieces of `messageid` as submitted, or an error text (ruling 3.5). */
export function messageIds(parameters: Parameters): readonly string[] | string {
  const ids = list(parameters, 'messageid')
  if (ids.length === 0) return errorText('No message ids supplied')
  return ids.length > idsMax ? errorText('Too many message ids supplied') : ids
}

/**
 * Returns the credentials of a request: a key, a user with a password, or both, trimmed. A value that is blank or
 * contains U+0000 counts as missing (ruling 3.1). Returns undefined if there are none, or if one is repeated (ruling
 * 3.3).
 */
export function credentialsOf(parameters: Parameters): Pick<Credentials, 'apiKey' | 'pair'> | undefined {
  const apiKey = valuesOf(parameters, 'apikey')
  const user = valuesOf(parameters, 'user')
  const password = valuesOf(parameters, 'password')
  if (apiKey.length > 1 || user.length > 1 || password.length > 1) return undefined
  const pair = pairOf(user[0], password[0])
  return apiKey[0] === undefined && pair === undefined ? undefined : { apiKey: apiKey[0], pair }
}

const valuesOf = (parameters: Parameters, name: string): readonly string[] =>
  (parameters.get(name) ?? []).filter((value) => value.trim() !== '' && !value.includes('\0')).map(trimWhiteSpace)

const pairOf = (user: string | undefined, password: string | undefined): Credentials['pair'] =>
  user === undefined || password === undefined ? undefined : { user, password }
