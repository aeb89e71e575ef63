import { COMMAND_ID, noTlvs, type Bind, type EmptyPdu, type Pdu, type ReceivedPdu } from '@gateway/smpp'

/** Requests that a bound transmitter or transceiver may send. */
export type Operation = Extract<
  Pdu,
  { command: 'submit_sm' | 'submit_multi' | 'data_sm' | 'query_sm' | 'cancel_sm' | 'replace_sm' }
>

type Response = { readonly sequence: number; readonly status: number; readonly tlvs: typeof noTlvs }

/** Builds the response of each operation with a status and no result. */
const REFUSALS: Readonly<Record<Operation['command'], (head: Response) => Pdu>> = {
  submit_sm: (head) => ({ command: 'submit_sm_resp', ...head, messageId: '' }),
  data_sm: (head) => ({ command: 'data_sm_resp', ...head, messageId: '' }),
  submit_multi: (head) => ({ command: 'submit_multi_resp', ...head, messageId: '', unsuccessSmes: [] }),
  query_sm: (head) => ({
    command: 'query_sm_resp',
    ...head,
    messageId: '',
    finalDate: '',
    messageState: 0,
    errorCode: 0,
  }),
  cancel_sm: (head) => ({ command: 'cancel_sm_resp', ...head }),
  replace_sm: (head) => ({ command: 'replace_sm_resp', ...head }),
}

export const isBind = (pdu: Pdu): pdu is Bind =>
  pdu.command === 'bind_transceiver' || pdu.command === 'bind_transmitter' || pdu.command === 'bind_receiver'

export const isOperation = (pdu: Pdu): pdu is Operation => pdu.command in REFUSALS

export const isResponse = (pdu: Pdu): boolean => COMMAND_ID[pdu.command] >= 0x80000000

/** Builds a PDU that consists of a header. */
export const headerPdu = (command: EmptyPdu['command'], sequence: number, status = 0): Pdu => ({
  command,
  ...{ status, sequence, tlvs: noTlvs },
})

export const refuseOperation = ({ command, sequence }: Pick<Operation, 'command' | 'sequence'>, status: number): Pdu =>
  REFUSALS[command]({ sequence, status, tlvs: noTlvs })

/** Builds the response to a refused request: the response of its command, or a generic_nack if there is none. */
export function refuseRequest(pdu: Pdu, status: number): Pdu {
  if (isOperation(pdu)) return refuseOperation(pdu, status)
  return isBind(pdu)
    ? { command: `${pdu.command}_resp`, status, sequence: pdu.sequence, systemId: '', tlvs: noTlvs }
    : headerPdu('generic_nack', pdu.sequence, status)
}

/** Returns the operation of a command_id, or undefined for the id of any other PDU. */
export const operationOf = (commandId: number): Operation['command'] | undefined => REQUESTS_BY_ID.get(commandId)

const REQUESTS_BY_ID = new Map<number, Operation['command']>(
  (Object.keys(REFUSALS) as Operation['command'][]).map((command) => [COMMAND_ID[command], command]),
)

/** Builds the response to a PDU that is malformed. Responses that are malformed get none. */
export function refuseMalformed(pdu: Extract<ReceivedPdu, { command: 'malformed' }>): Pdu | undefined {
  if (pdu.commandId >= 0x80000000) return undefined
  const { sequence, answerStatus: status } = pdu
  const command = pdu.endsSession ? undefined : REQUESTS_BY_ID.get(pdu.commandId)
  return command === undefined
    ? headerPdu('generic_nack', sequence, status)
    : REFUSALS[command]({ sequence, status, tlvs: noTlvs })
}
