import {
  COMMAND_ID,
  COMMAND_STATUS,
  TLV_TAG,
  integerTlv,
  noTlvs,
  MESSAGE_STATE,
  type Bind,
  type BindResp,
  type CancelSm,
  type DataSm,
  type EmptyPdu,
  type Pdu,
  type QuerySm,
  type ReceivedPdu,
  type ReplaceSm,
  type SubmitMulti,
  type SubmitSm,
} from '@gateway/smpp'
import type { Deliveries } from './deliveries.ts'
import type { Link } from './link.ts'
import type { MessageStore, StoredMessage, IdForm } from './message-store.ts'
import type { Personality } from './personalities.ts'
import { messageStateOf } from './receipts.ts'
import type { FilledSettings } from './settings.ts'
import type { Submissions } from './submissions.ts'

interface Context {
  readonly settings: FilledSettings
  readonly personality: () => Personality
  readonly links: ReadonlyMap<number, Link>
  readonly store: MessageStore
  readonly deliveries: Deliveries
  readonly submissions: Submissions
  readonly deleted: (message: StoredMessage) => void
}

const simple = (command: EmptyPdu['command'], sequence: number, status = 0): Pdu => ({
  command,
  ...{ status, sequence, tlvs: noTlvs },
})

/** Returns the handler of received PDUs. */
export function receivedBy(context: Context): (link: Link, pdu: ReceivedPdu) => void {
  return (link, pdu) => {
    const isBound = link.bound !== undefined
    if (isBound && context.personality().isSilent) return
    if (pdu.command === 'malformed') {
      link.send(simple('generic_nack', pdu.sequence, pdu.answerStatus))
      if (pdu.endsSession) link.end()
    } else if (pdu.command === 'unknown') {
      if (pdu.commandId < 0x80000000) link.send(simple('generic_nack', pdu.sequence, COMMAND_STATUS.ESME_RINVCMDID))
    } else if (isBound) boundReceived(context, link, pdu)
    else unboundReceived(context, link, pdu)
  }
}

const isBind = (pdu: Pdu): pdu is Bind => pdu.command.startsWith('bind_') && !isResponse(pdu.command)

/** Handles a PDU before the bind (SMPP 3.4, 2.3). */
function unboundReceived(context: Context, link: Link, pdu: Pdu): void {
  if (isBind(pdu)) bind(context, link, pdu)
  else if (pdu.command === 'enquire_link') link.send(simple('enquire_link_resp', pdu.sequence))
  else if (pdu.command === 'unbind') unbind(link, pdu)
  else refuse(link, pdu, COMMAND_STATUS.ESME_RINVBNDSTS)
}

function boundReceived(context: Context, link: Link, pdu: Pdu): void {
  if (isResponse(pdu.command)) link.settle(pdu.sequence, pdu.status)
  else if (pdu.command === 'enquire_link') link.send(simple('enquire_link_resp', pdu.sequence))
  else if (pdu.command === 'unbind') unbind(link, pdu)
  else if (isBind(pdu)) refuse(link, pdu, COMMAND_STATUS.ESME_RALYBND)
  else if (!isOperation(pdu)) refuse(link, pdu, COMMAND_STATUS.ESME_RINVCMDID)
  else if (link.bound?.kind === 'bind_receiver') refuse(link, pdu, COMMAND_STATUS.ESME_RINVBNDSTS)
  else transmitted(context, link, pdu)
}

type Operation = SubmitSm | DataSm | SubmitMulti | QuerySm | CancelSm | ReplaceSm

const OPERATIONS: readonly string[] = ['submit_sm', 'data_sm', 'submit_multi', 'query_sm', 'cancel_sm', 'replace_sm']
const isOperation = (pdu: Pdu): pdu is Operation => OPERATIONS.includes(pdu.command)

function transmitted({ submissions, store, deleted, personality }: Context, link: Link, pdu: Operation): void {
  if (pdu.command === 'submit_sm' || pdu.command === 'data_sm') submissions.submit(link, pdu)
  else if (pdu.command === 'submit_multi') submissions.submitMulti(link, pdu)
  else operate(link, pdu, { store, deleted, idForm: personality().idForm })
}

function unbind(link: Link, pdu: Pdu): void {
  link.send(simple('unbind_resp', pdu.sequence))
  link.end()
}

const isResponse = (command: Pdu['command']): boolean => COMMAND_ID[command] >= 0x80000000

/** Refuses a request. A response is ignored. */
function refuse(link: Link, pdu: Pdu, status: number): void {
  if (!isResponse(pdu.command)) link.send(refusalOf(pdu, status))
}

/** Returns the response of a request with only a status, or a generic_nack for requests without a response. */
function refusalOf(pdu: Pdu, status: number): Pdu {
  const { command, sequence } = pdu
  if (isBind(pdu)) return { command: `${pdu.command}_resp`, status, sequence, systemId: '', tlvs: noTlvs }
  if (command === 'submit_sm' || command === 'data_sm') {
    return { command: `${command}_resp`, status, sequence, messageId: '', tlvs: noTlvs }
  }
  if (command === 'submit_multi') {
    return { command: 'submit_multi_resp', status, sequence, messageId: '', unsuccessSmes: [], tlvs: noTlvs }
  }
  if (command === 'query_sm') {
    const empty = { messageId: '', finalDate: '', messageState: 0, errorCode: 0, tlvs: noTlvs }
    return { command: 'query_sm_resp', status, sequence, ...empty }
  }
  const isSimple = command === 'cancel_sm' || command === 'replace_sm'
  return simple(isSimple ? `${command}_resp` : 'generic_nack', sequence, status)
}

function bind(context: Context, link: Link, pdu: Bind): void {
  const status = bindStatusOf(context, pdu)
  if (status === 0) link.bind(pdu.systemId, pdu.command)
  const response: BindResp = {
    command: `${pdu.command}_resp`,
    ...{ status, sequence: pdu.sequence, systemId: status === 0 ? 'gateway-smsc' : '' },
    tlvs: status === 0 && pdu.interfaceVersion >= 0x34 ? [integerTlv(TLV_TAG.sc_interface_version, 1, 0x34)] : noTlvs,
  }
  link.send(response)
  if (status === 0) context.deliveries.opened(link)
}

function bindStatusOf({ settings, personality, links }: Context, { systemId, password }: Bind): number {
  const bound = [...links.values()].filter((other) => other.bound?.systemId === systemId)
  if (personality().bindStatus !== 0) return personality().bindStatus
  if (settings.systemId !== undefined && systemId !== settings.systemId) return COMMAND_STATUS.ESME_RINVSYSID
  if (settings.password !== undefined && password !== settings.password) return COMMAND_STATUS.ESME_RINVPASWD
  return bound.length >= settings.bindsMax ? COMMAND_STATUS.ESME_RALYBND : 0
}

type Store = Pick<MessageStore, 'find' | 'progress'>

/** Answers query_sm, cancel_sm and replace_sm. `deleted` is called with a message that was cancelled. */
export function operate(
  link: Link,
  pdu: QuerySm | CancelSm | ReplaceSm,
  { store, idForm, deleted }: { store: Store; idForm: IdForm; deleted: (message: StoredMessage) => void },
): void {
  const messages = findMessages(store, link, pdu.messageId, idForm)
  const { sequence } = pdu
  const open = messages.filter(isOpen)
  const missing = messages.length === 0 ? COMMAND_STATUS.ESME_RINVMSGID : undefined
  if (pdu.command === 'query_sm') {
    const fields = { finalDate: '', errorCode: 0, tlvs: noTlvs }
    const found = { status: 0, messageId: pdu.messageId, messageState: stateOf(messages) }
    const none = { status: COMMAND_STATUS.ESME_RQUERYFAIL, messageId: '', messageState: 0 }
    link.send({ command: 'query_sm_resp', sequence, ...fields, ...(missing === undefined ? found : none) })
  } else if (pdu.command === 'cancel_sm') {
    const status = missing ?? (open.length === 0 ? COMMAND_STATUS.ESME_RCANCELFAIL : 0)
    link.send({ command: 'cancel_sm_resp', status, sequence, tlvs: noTlvs })
    for (const message of open) cancel(store, message, deleted)
  } else {
    const status = missing ?? (open.length === 0 ? COMMAND_STATUS.ESME_RREPLACEFAIL : 0)
    link.send({ command: 'replace_sm_resp', status, sequence, tlvs: noTlvs })
  }
}

type Found = ReturnType<MessageStore['find']>[number]

/** Returns true while no receipt of the message was acknowledged. */
const isOpen = (message: Found): message is StoredMessage =>
  !('hasEnded' in message) && message.done === 0 && message.state !== 'DELETED'

/**
 * Returns the common state of all messages of one id: under way until the state of every message is known, then the
 * first state other than delivered, or delivered if there is none.
 */
function stateOf(messages: readonly Found[]): number {
  const states = messages.map(({ state }) => state)
  if (states.includes(undefined)) return MESSAGE_STATE.ENROUTE
  return messageStateOf(states.find((one) => one !== 'DELIVRD') ?? 'DELIVRD')
}

function cancel(store: Store, message: StoredMessage, deleted: (message: StoredMessage) => void): void {
  message.state = 'DELETED'
  store.progress(message)
  deleted(message)
}

/** Finds the messages of the same system_id by their id, which has the form of the responses. */
function findMessages(store: Store, link: Link, id: string, form: IdForm): readonly Found[] {
  const digits = form === 'huge' ? id.slice(1) : id
  const messages = store.find(form === 'hexadecimal' ? parseInt(digits, 16) : Number(digits))
  return messages.filter(({ systemId }) => systemId === link.bound?.systemId)
}
