import { printable } from '../output.ts'

/**
 * Formats a PDU, or an HTTP request or response, for people. The first line describes the whole, and each field has a
 * line of its own.
 */
export function pduText(
  time: string,
  direction: 'sent' | 'received',
  { command, sequence, status: statusField, ...rest }: Readonly<Record<string, unknown>>,
): string {
  const isResponse = String(command).endsWith('_resp') || command === 'generic_nack'
  // A PDU with status 0 has no `status` field.
  const status = isResponse ? (statusField ?? 'ESME_ROK') : statusField
  const statusText = typeof status === 'string' ? status : JSON.stringify(status)
  const head = `${time} ${direction === 'sent' ? '->' : '<-'} ${String(command)} ${String(sequence)}`
  const lines = Object.entries(rest).flatMap(([field, value]) =>
    Array.isArray(value)
      ? (value as readonly (readonly [string, string])[]).map(([tag, hex]) => `    ${tag} ${octetsText(hex)}`)
      : [`    ${field} ${valueText(field, value)}`],
  )
  return [status === undefined ? head : `${head} ${statusText}`, ...lines].map(printable).join('\n')
}

const valueText = (field: string, value: unknown): string =>
  field === 'shortMessage' ? octetsText(String(value)) : JSON.stringify(value)

/** Formats octets in hexadecimal, followed by the text if all octets are ASCII. */
const octetsText = (hex: string): string => {
  const text = Buffer.from(hex, 'hex').toString('latin1')
  return /^[\x20-\x7e]{3,}$/.test(text) ? `${hex} ${JSON.stringify(text)}` : hex
}
