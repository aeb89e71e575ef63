import type { Submission } from '@gateway/core/dispatch'
import { writeNumber, tonNpiOf } from '../numbers.ts'
import { integerTlv, noTlvs, TLV_TAG, type SubmitSm, type Tlv } from '@gateway/smpp'
import type { SmppSettings } from '../settings.ts'
import type { Segment } from '../text/encode-body.ts'

const headerIndicator = 0x40

/** registered_delivery that requests a receipt of the final state, for every part (SMPP 3.4, 5.2.17). */
const finalReceipt = 1

/**
 * Builds the submit_sm of one segment. `validSeconds` is the remaining validity of the message; if undefined, the
 * settings decide.
 */
export function buildSubmit(
  settings: SmppSettings,
  { from, to, options }: Pick<Submission, 'from' | 'to' | 'options'>,
  segment: Segment,
  sequence: number,
  validSeconds?: number,
): SubmitSm {
  const sourceAddr = from === undefined ? '' : writeNumber(from, settings, 'source')
  const destinationAddr = writeNumber(to, settings, 'destination')
  const source = from === undefined ? { ton: 0, npi: 0 } : tonNpiOf(from, settings, 'source')
  const destination = tonNpiOf(to, settings, 'destination')
  return {
    command: 'submit_sm',
    status: 0,
    sequence,
    serviceType: settings.serviceType,
    sourceAddrTon: source.ton,
    sourceAddrNpi: source.npi,
    sourceAddr,
    destAddrTon: destination.ton,
    destAddrNpi: destination.npi,
    destinationAddr,
    esmClass: segment.hasHeader ? headerIndicator : 0,
    protocolId: settings.protocolId,
    priorityFlag: options?.priority ?? settings.priority,
    scheduleDeliveryTime: '',
    validityPeriod: validityPeriod(settings, validSeconds),
    registeredDelivery: finalReceipt,
    replaceIfPresentFlag: 0,
    dataCoding: segment.dataCoding,
    smDefaultMsgId: 0,
    shortMessage: segment.isPayload ? Buffer.alloc(0) : segment.octets,
    tlvs: tlvsOf(segment),
  }
}

function tlvsOf({ isPayload, octets, sar }: Segment): readonly Tlv[] {
  if (isPayload) return [{ tag: TLV_TAG.message_payload, value: octets }]
  if (sar === undefined) return noTlvs
  return [
    integerTlv(TLV_TAG.sar_msg_ref_num, 2, sar.reference),
    integerTlv(TLV_TAG.sar_total_segments, 1, sar.of),
    integerTlv(TLV_TAG.sar_segment_seqnum, 1, sar.number),
  ]
}

function validityPeriod({ validityHours }: SmppSettings, validSeconds: number | undefined): string {
  if (validSeconds !== undefined) return relativeTime(Math.max(1, Math.floor(validSeconds)))
  return validityHours === undefined ? '' : relativeTime(validityHours * 3600)
}

/** Formats a time relative to now (SMPP 3.4, 7.1.1): YYMMDDhhmmsstnnp with p = R. */
function relativeTime(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const parts = [Math.floor(hours / 24), hours % 24, minutes % 60, seconds % 60]
  return `0000${parts.map((part) => String(part).padStart(2, '0')).join('')}000R`
}
