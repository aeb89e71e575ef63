import type { ProviderAccount } from '../account.ts'
import { fillText, type Values } from '../description/template.ts'

/**
 * Returns the values of the placeholders `secret.…`. During a rotation, `rotation` 0 selects the value of each secret
 * that is used for sending, and 1 the other value.
 */
export const secretValues = ({ secrets }: Pick<ProviderAccount, 'secrets'>, rotation = 0): Values =>
  Object.fromEntries(Object.entries(secrets).map(([name, values]) => [`secret.${name}`, values[rotation] ?? values[0]]))

/** Returns the value of the header `authorization` for HTTP basic authentication (RFC 7617). */
export function basicAuthorization(pair: readonly string[], values: Values): string {
  const text = pair.map((each) => String(fillText(each, values) ?? '')).join(':')
  return `Basic ${Buffer.from(text).toString('base64')}`
}
