import { COMMAND_ID } from './command-id.ts'
import { COMMAND_STATUS } from './command-status.ts'
import { cursor, octets, tlvs, type Cursor } from './cursor.ts'
import { alertNotification, bind, bindResp, outbind } from './decode-links.ts'
import { dataSm, deliverSm, messageIdResp, submitSm } from './decode-messages.ts'
import { cancelSm, querySm, querySmResp, replaceSm, submitMulti, submitMultiResp } from './decode-operations.ts'
import { headerOctets } from './field-sizes.ts'
import type { EmptyPdu, Pdu } from './pdu.ts'
import type { MalformedPdu, MalformedReason, ReceivedPdu } from './received-pdu.ts'

/**
 * Reads the PDU that is at `start` and ends before `end`, which its command_length has said. Never throws and reads nothing
 * outside; buffers in the result are views.
 */
export function decodePdu(bytes: Buffer, start = 0, end = bytes.length): ReceivedPdu {
  const length = end - start < 4 ? 0 : bytes.readUInt32BE(start)
  if (length < headerOctets || length > end - start) return malformed(bytes, start, end, 'command-length-too-small')
  if (length < end - start) return malformed(bytes, start, end, 'command-length-too-large')
  const from = cursor(bytes, start + headerOctets, end)
  const pdu = decodeBody(
    bytes.readUInt32BE(start + 4),
    from,
    bytes.readUInt32BE(start + 8),
    bytes.readUInt32BE(start + 12),
  )
  return from.problem === undefined ? pdu : malformed(bytes, start, end, from.problem)
}

const ANSWER = {
  'command-length-too-small': COMMAND_STATUS.ESME_RINVCMDLEN,
  'command-length-too-large': COMMAND_STATUS.ESME_RINVCMDLEN,
  'body-too-short': COMMAND_STATUS.ESME_RINVCMDLEN,
  'string-unterminated': COMMAND_STATUS.ESME_RINVCMDLEN,
  'string-too-long': COMMAND_STATUS.ESME_RINVPARLEN,
  'message-too-long': COMMAND_STATUS.ESME_RINVMSGLEN,
  'tlv-too-long': COMMAND_STATUS.ESME_RINVOPTPARSTREAM,
  'destination-flag': COMMAND_STATUS.ESME_RINVDESTFLAG,
} as const satisfies Record<MalformedReason, number>

/** What is told of bytes that are no PDU, which may be fewer than a header has. */
export function malformed(bytes: Buffer, start: number, end: number, reason: MalformedReason): MalformedPdu {
  const word = (at: number): number => (start + at + 4 <= end ? bytes.readUInt32BE(start + at) : 0)
  return {
    command: 'malformed',
    reason,
    commandId: word(4),
    status: word(8),
    sequence: word(12),
    answerStatus: ANSWER[reason],
    endsSession: reason === 'command-length-too-small' || reason === 'command-length-too-large',
    bytes: bytes.subarray(start, end),
  }
}

function decodeBody(commandId: number, from: Cursor, status: number, sequence: number): ReceivedPdu {
  switch (commandId) {
    case COMMAND_ID.submit_sm:
      return submitSm(from, status, sequence)
    case COMMAND_ID.submit_sm_resp:
      return messageIdResp('submit_sm_resp', from, status, sequence)
    case COMMAND_ID.deliver_sm:
      return deliverSm(from, status, sequence)
    case COMMAND_ID.deliver_sm_resp:
      return messageIdResp('deliver_sm_resp', from, status, sequence)
    case COMMAND_ID.data_sm:
      return dataSm(from, status, sequence)
    case COMMAND_ID.data_sm_resp:
      return messageIdResp('data_sm_resp', from, status, sequence)
    default:
      return decodeRare(commandId, from, status, sequence) ?? unknown(commandId, from, status, sequence)
  }
}

const unknown = (commandId: number, from: Cursor, status: number, sequence: number): ReceivedPdu => ({
  command: 'unknown',
  commandId,
  status,
  sequence,
  body: octets(from, from.end - from.at, 'body-too-short'),
})

const EMPTY = new Map<number, EmptyPdu['command']>(
  (
    [
      ...['generic_nack', 'unbind', 'unbind_resp', 'enquire_link', 'enquire_link_resp'],
      ...['cancel_sm_resp', 'replace_sm_resp'],
    ] as const
  ).map((command) => [COMMAND_ID[command], command]),
)

function decodeRare(commandId: number, from: Cursor, status: number, sequence: number): Pdu | undefined {
  const empty = EMPTY.get(commandId)
  if (empty !== undefined) return { command: empty, status, sequence, tlvs: tlvs(from) }
  return RARE.get(commandId)?.(from, status, sequence)
}

const RARE = new Map<number, (from: Cursor, status: number, sequence: number) => Pdu>([
  [COMMAND_ID.bind_receiver, bind('bind_receiver')],
  [COMMAND_ID.bind_transmitter, bind('bind_transmitter')],
  [COMMAND_ID.bind_transceiver, bind('bind_transceiver')],
  [COMMAND_ID.bind_receiver_resp, bindResp('bind_receiver_resp')],
  [COMMAND_ID.bind_transmitter_resp, bindResp('bind_transmitter_resp')],
  [COMMAND_ID.bind_transceiver_resp, bindResp('bind_transceiver_resp')],
  [COMMAND_ID.outbind, outbind],
  [COMMAND_ID.alert_notification, alertNotification],
  [COMMAND_ID.submit_multi, submitMulti],
  [COMMAND_ID.submit_multi_resp, submitMultiResp],
  [COMMAND_ID.query_sm, querySm],
  [COMMAND_ID.query_sm_resp, querySmResp],
  [COMMAND_ID.cancel_sm, cancelSm],
  [COMMAND_ID.replace_sm, replaceSm],
])
