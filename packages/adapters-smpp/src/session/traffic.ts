import type { ObservedTraffic, TrafficObserver } from '@gateway/core/fleet'
import { readUserData } from '../inbound/read-inbound-message.ts'
import { pduFields, type ReceivedPdu } from '@gateway/smpp'
import { headOf, isReceipt, textOf } from '../receipts/read-receipt.ts'
import type { SmppSettings } from '../settings.ts'
import { decodeText } from '../text/decode-text.ts'

type Direction = ObservedTraffic['direction']

/** Maximum number of unanswered requests to remember for one observed phone number. */
const awaitedMax = 1000

/** Number of last digits that are compared, because carriers write numbers with a prefix or in national form. */
const digitsCompared = 9

/** Shows the PDUs of a carrier's links to observers. Without observers a PDU costs one comparison. */
export class Traffic {
  readonly #settings: SmppSettings
  /** Observers with the responses that they await. Each response is a text of link, direction and sequence number. */
  #observers = new Map<TrafficObserver, Set<string>>()
  #links = 0

  constructor(settings: SmppSettings) {
    this.#settings = settings
  }

  /** Replaces the observers. */
  observe(observers: readonly TrafficObserver[]): void {
    this.#observers = new Map(observers.map((one) => [one, this.#observers.get(one) ?? new Set()]))
  }

  /** Returns the function to call with each PDU of one link. */
  link(role: string): (direction: Direction, pdu: ReceivedPdu) => void {
    const link = ++this.#links
    return (direction, pdu) => {
      if (this.#observers.size === 0) return
      for (const [observer, awaited] of this.#observers) {
        if (!concerns(observer, awaited, link, direction, pdu)) continue
        observer.saw({ direction, role, fields: fieldsOf(pdu, observer.hasText, this.#settings) })
      }
    }
  }
}

/** Returns true if an observer sees this PDU. Remembers in `awaited` the response to a request that it sees. */
function concerns(
  { number }: TrafficObserver,
  awaited: Set<string>,
  link: number,
  direction: Direction,
  pdu: ReceivedPdu,
): boolean {
  if (number === undefined) return true
  if (isAnswer(pdu)) return awaited.delete(`${link} ${direction} ${pdu.sequence}`)
  if (!addressesOf(pdu).some(isLike(number))) return false
  const answer: Direction = direction === 'sent' ? 'received' : 'sent'
  awaited.add(`${link} ${answer} ${pdu.sequence}`)
  if (awaited.size > awaitedMax) for (const oldest of [...awaited].slice(0, 1)) awaited.delete(oldest)
  return true
}

const isAnswer = ({ command }: ReceivedPdu): boolean => command.endsWith('_resp') || command === 'generic_nack'

const addressesOf = (pdu: ReceivedPdu): readonly string[] => [
  ...('sourceAddr' in pdu ? [pdu.sourceAddr] : []),
  ...('destinationAddr' in pdu ? [pdu.destinationAddr] : []),
]

const isLike =
  (number: string) =>
  (address: string): boolean =>
    address === number || (number.length >= digitsCompared && address.endsWith(number.slice(-digitsCompared)))

/** Fields that contain the text of a message. */
const masked: ReadonlySet<string> = new Set(['shortMessage', 'body', 'bytes', 'message_payload'])
const maskOf = (hex: string): string => `${hex.length / 2} octets`

/** Returns the fields of a PDU. Without `hasText` texts are masked; the fields of a receipt stay visible. */
function fieldsOf(pdu: ReceivedPdu, hasText: boolean, settings: SmppSettings): Record<string, unknown> {
  const fields = pduFields(pdu)
  if (pdu.command === 'deliver_sm' && isReceipt(pdu)) fields['receipt'] = headOf(textOf(pdu, settings)).trim()
  if (!hasText) {
    for (const [name, value] of Object.entries(fields)) {
      if (masked.has(name)) fields[name] = maskOf(value as string)
      if (name === 'tlvs') fields[name] = (value as [string, string][]).map(([tag, hex]) => [tag, tagValue(tag, hex)])
    }
  } else if (pdu.command === 'submit_sm' || pdu.command === 'deliver_sm') {
    const { octets, header } = readUserData(pdu.shortMessage, (pdu.esmClass & 0x40) !== 0)
    fields['text'] = decodeText(pdu.dataCoding, octets, settings.alphabet, header) ?? null
  }
  return fields
}

const tagValue = (tag: string, hex: string): string => (masked.has(tag) ? maskOf(hex) : hex)
