import type { RepliesBy, SmppCredential } from '@gateway/core/smpp-customers'

/** Addresses of the gateway for customers, and who gets the replies of the account. */
export interface SheetFacts {
  readonly host: string
  readonly port: number
  readonly tlsPort: number | undefined
  readonly replies: RepliesBy
}

const ALPHABET = { gsm: 'GSM 7-bit, one septet per octet', latin1: 'Latin-1', ascii: 'ASCII' } as const

/** Formats a credential as a sheet that an operator sends to a customer. The password is not on it. */
export function customerSheet(credential: SmppCredential, { host, port, tlsPort, replies }: SheetFacts): string {
  const { systemId, from, binds, window, perSecond, alphabet0, alphabet1, country, isIdempotent } = credential
  const rows: readonly (readonly [string, string])[] = [
    ['Host', host],
    ['Port', String(port)],
    ['Port with TLS', tlsPort === undefined ? 'not offered' : `${tlsPort} (TLS 1.2 or later)`],
    ['Version', 'SMPP 3.4'],
    ['system_id', systemId],
    ['password', 'sent to you separately'],
    ['system_type', 'any, or empty'],
    ['Allowed addresses', from.length === 0 ? 'any' : from.join(', ')],
    ['Binds', `${binds} at a time; a transmitter and a receiver count as one`],
    ['Window', `${window} requests without a response, on each bind`],
    ['Rate', `${perSecond} submissions per second; above it RTHROTTLED (0x58)`],
    ['enquire_link', 'every 30 to 60 s; the gateway sends its own after 30 s of silence'],
    ['data_coding 0', ALPHABET[alphabet0]],
    ['data_coding 1', ALPHABET[alphabet1]],
    ['data_coding 3', 'Latin-1'],
    ['data_coding 8', 'UCS-2, big-endian'],
    [
      'Destination',
      `digits in international form${country === undefined ? '' : `; TON national is completed with ${country}`}`,
    ],
    ['Long texts', 'UDH with 8- or 16-bit references, sar_* parameters, or message_payload'],
    [
      'Repetitions',
      isIdempotent ? 'the same user_message_reference gets the first answer' : 'each submission is a message',
    ],
    ['Receipts', 'deliver_sm with esm_class 0x04, as registered_delivery requests'],
    ['Dates in receipts', `YYMMDDhhmm at UTC${offsetText(credential.receiptOffsetMinutes)}`],
    ['Replies', REPLIES[replies]],
  ]
  const width = Math.max(...rows.map(([name]) => name.length)) + 2
  const receipt = 'id:20481 sub:001 dlvrd:001 submit date:2610181824 done date:2610181825 stat:DELIVRD err:000 text:'
  return `${rows.map(([name, value]) => name.padEnd(width) + value).join('\n')}\n\nA receipt:\n  ${receipt}`
}

const REPLIES = {
  smpp: 'deliver_sm to a receiver or transceiver',
  webhook: 'to your webhook, not over SMPP',
  polling: 'fetched over HTTP, not over SMPP',
} as const satisfies Record<RepliesBy, string>

function offsetText(minutes: number): string {
  if (minutes === 0) return ''
  const absolute = Math.abs(minutes)
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(absolute / 60))}:${pad(absolute % 60)}`
}
