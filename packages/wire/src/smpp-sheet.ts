import type { RepliesBy, SmppCredential } from '@gateway/core/smpp-customers'

/** Row of a sheet: a name in the words of SMPP, and its value. */
export type SheetRow = readonly [name: string, value: string]

const ALPHABET = { gsm: 'GSM 7-bit, one septet per octet', latin1: 'Latin-1', ascii: 'ASCII' } as const

/**
 * Returns what a customer has to know about a credential, except the address of the gateway and the password: version,
 * limits, alphabets, forms of texts, receipts and replies.
 */
export function smppSheet(credential: SmppCredential, replies: RepliesBy): readonly SheetRow[] {
  const { systemId, from, binds, window, perSecond, alphabet0, alphabet1, country, isIdempotent } = credential
  const completed = country === undefined ? '' : `; TON national is completed with ${country}`
  return [
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
    ['Destination', `digits in international form${completed}`],
    ['Long texts', 'UDH with 8- or 16-bit references, sar_* parameters, or message_payload'],
    [
      'Repetitions',
      isIdempotent ? 'the same user_message_reference gets the first answer' : 'each submission is a message',
    ],
    ['Receipts', 'deliver_sm with esm_class 0x04, as registered_delivery requests'],
    ['Dates in receipts', `YYMMDDhhmm at UTC${utcOffset(credential.receiptOffsetMinutes)}`],
    ['Replies', REPLIES[replies]],
  ]
}

/** Receipt as the gateway sends it. */
export const receiptExample =
  'id:20481 sub:001 dlvrd:001 submit date:2610181824 done date:2610181825 stat:DELIVRD err:000 text:'

const REPLIES = {
  smpp: 'deliver_sm to a receiver or transceiver',
  webhook: 'to your webhook, not over SMPP',
  polling: 'fetched over HTTP, not over SMPP',
} as const satisfies Record<RepliesBy, string>

/** Formats an offset from UTC as in +02:00; '' for UTC itself. */
export function utcOffset(minutes: number): string {
  if (minutes === 0) return ''
  const absolute = Math.abs(minutes)
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(absolute / 60))}:${pad(absolute % 60)}`
}

/** Reads an offset from UTC such as +02:00, in minutes. Returns undefined for any other text. */
export function readUtcOffset(text: string): number | undefined {
  const [, sign, hours = '', minutes = ''] = /^([+-]?)(\d{2}):(\d{2})$/.exec(text) ?? []
  if (sign === undefined || Number(hours) > 14 || Number(minutes) > 59) return undefined
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
