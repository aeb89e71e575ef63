import {
  COMMAND_STATUS,
  MESSAGE_STATE,
  noTlvs,
  type CancelSm,
  type QuerySm,
  type ReplaceSm,
} from '@gateway/adapters-smpp/pdu'
import type { Link } from './link.ts'
import type { IdForm } from './message-ids.ts'
import type { MessageStore } from './message-store.ts'
import type { StoredMessage } from './stored-message.ts'
import { messageStateOf } from './receipts.ts'

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

/** No receipt of it was acknowledged. */
const isOpen = (message: Found): message is StoredMessage =>
  !('hasEnded' in message) && message.done === 0 && message.state !== 'DELETED'

/** Of several: under way until the state of each is known, then that of the first that was not delivered. */
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

/** Only those of the same system_id, by an id in the form of the answers. */
function findMessages(store: Store, link: Link, id: string, form: IdForm): readonly Found[] {
  const digits = form === 'huge' ? id.slice(1) : id
  const messages = store.find(form === 'hexadecimal' ? parseInt(digits, 16) : Number(digits))
  return messages.filter(({ systemId }) => systemId === link.bound?.systemId)
}
