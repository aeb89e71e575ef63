import type { ObservedPdu, PduObserver } from '@gateway/core/fleet'
import { readUserData } from '../inbound/read-inbound-message.ts'
import { pduFields, type ReceivedPdu } from '@gateway/smpp'
import { headOf, isReceipt, textOf } from '../receipts/read-receipt.ts'
import type { SmppSettings } from '../settings.ts'
import { decodeText } from '../text/decode-text.ts'

type Direction = ObservedPdu['direction']

/**
 * The PDUs of the links of a carrier, for who looks on. While nobody does, each costs one look whether somebody does.
 */
export interface Traffic {
  observe(observers: readonly PduObserver[]): void
  /** Of one link. */
  link(role: string): (direction: Direction, pdu: ReceivedPdu) => void
}

/** Requests to or from a number whose answers are awaited. */
const awaitedMax = 1000

/** What is compared of a number: carriers write it with a prefix or as one dials it in its country. */
const digitsCompared = 9

export function createTraffic(settings: SmppSettings): Traffic {
  /** With the answers that each awaits, by link and sequence number. */
  let observers = new Map<PduObserver, Set<string>>()
  let links = 0

  function concerns(observer: PduObserver, awaited: Set<string>, link: number, direction: Direction, pdu: ReceivedPdu) {
    if (observer.number === undefined) return true
    if (isAnswer(pdu)) return awaited.delete(`${link} ${direction} ${pdu.sequence}`)
    if (!addressesOf(pdu).some(isLike(observer.number))) return false
    const answer: Direction = direction === 'sent' ? 'received' : 'sent'
    awaited.add(`${link} ${answer} ${pdu.sequence}`)
    if (awaited.size > awaitedMax) for (const oldest of [...awaited].slice(0, 1)) awaited.delete(oldest)
    return true
  }

  return {
    observe: (next) => void (observers = new Map(next.map((one) => [one, observers.get(one) ?? new Set()]))),
    link(role) {
      const link = ++links
      return (direction, pdu) => {
        if (observers.size === 0) return
        for (const [observer, awaited] of observers) {
          if (!concerns(observer, awaited, link, direction, pdu)) continue
          observer.saw({ direction, role, fields: fieldsOf(pdu, observer.hasText, settings) })
        }
      }
    },
  }
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

/** Octets that hold what somebody wrote. */
const masked: ReadonlySet<string> = new Set(['shortMessage', 'body', 'bytes', 'message_payload'])
const maskOf = (hex: string): string => `${hex.length / 2} octets`

/** Without the text a receipt shows what it says before that. */
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
