import { enteredSecrets, shippedProvider, type ProviderName } from '@gateway/adapters-http'
import { carrierId } from '@gateway/core/dispatch'
import type { ConnectionFields, ConnectionProblems } from '@gateway/core/fleet'

interface Before {
  readonly baseUrl?: string
  readonly secrets?: Readonly<Record<string, unknown>>
}

/** Maximum length of a secret that is typed. */
const secretLengthMax = 1000

/**
 * Returns what is wrong with the fields of a connection, as far as a form can tell. `before` is the stored carrier of
 * this name. If the base URL changes, all secrets for sending must be typed again: otherwise an operator could have
 * them sent to another server without knowing them.
 */
export function fieldProblems(
  fields: ConnectionFields,
  provider: ProviderName,
  before: Before | undefined,
  isNew: boolean,
): ConnectionProblems {
  const { carrier, baseUrl } = fields
  const problems: Record<string, string> = {}
  if (carrierId(carrier) === undefined) problems['carrier'] = 'A name has 1 to 32 characters of a-z, 0-9 and -'
  else if (isNew && before !== undefined) problems['carrier'] = `There is already a carrier ${carrier}`
  const isElsewhere = !isNew && (before?.baseUrl ?? '') !== baseUrl
  const secrets = enteredSecrets(provider)
  for (const { name, label, isRequired } of secrets) {
    const value = fields.secrets[name] ?? ''
    const hasValue = before?.secrets !== undefined && Object.hasOwn(before.secrets, name)
    if (value === '' && isRequired && (!hasValue || isElsewhere)) {
      problems[`secrets.${name}`] = isElsewhere
        ? `Enter the ${label} again, because it will be sent to another address`
        : `Enter the ${label}`
    } else if (!/^[\x21-\x7e]*$/.test(value) || value.length > secretLengthMax) {
      problems[`secrets.${name}`] = `The ${label} has letters, digits and signs without spaces`
    }
  }
  const unknown = Object.keys(fields.secrets).find((secret) => secrets.every(({ name }) => name !== secret))
  if (unknown !== undefined) problems['provider'] = 'The form is that of another provider'
  if (baseUrl === '' && shippedProvider(provider).description.send.url.startsWith('/'))
    problems['baseUrl'] = 'Enter the base URL'
  return problems
}

/** Fields of the form, by the names that errors of a carriers document use. */
const FIELD: Readonly<Record<string, string>> = {
  name: 'carrier',
  from: 'from',
  baseUrl: 'baseUrl',
  publicUrl: 'publicUrl',
  PUBLIC_URL: 'publicUrl',
  CARRIER_HTTP_ALLOW: 'baseUrl',
}

const SENTENCE: Readonly<Record<string, string>> = {
  from: 'A sender is a number of 3 to 15 digits, or a name of at most 11 characters',
  publicUrl: 'A public URL begins with https://, such as https://sms.example.com',
}

/**
 * Returns the errors of a carriers document by the fields of the form. Errors of other fields get the name `''`.
 * The error of `readDocument` has one problem a line and contains no secret.
 */
export function problemsByField(problem: unknown, carrier: string): ConnectionProblems {
  const lines = (problem as Error).message.split('\n').map((line) => line.trim())
  const problems: Record<string, string> = {}
  for (const line of lines.slice(lines.length > 1 ? 1 : 0)) {
    const [, name = '', text = line] =
      /^\/(?:carriers\/\d+)?(?: \([^)]*\): |\/)?([A-Za-z_]+)(?:\/[^:]*)?: (.*)$/s.exec(line) ?? []
    const field = FIELD[name] ?? ''
    problems[field] = SENTENCE[field] ?? (field === '' ? line.replace(` (${carrier})`, '') : text)
  }
  return problems
}
