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
  const message = findMessage(store, link, pdu.messageId, idForm)
  const { sequence } = pdu
  const open = message === undefined || 'hasEnded' in message ? undefined : message
  const isFinal = open === undefined || open.done > 0 || open.state === 'DELETED'
  const missing = message === undefined ? COMMAND_STATUS.ESME_RINVMSGID : undefined
  if (pdu.command === 'query_sm') {
    const status = missing === undefined ? 0 : COMMAND_STATUS.ESME_RQUERYFAIL
    const messageState = message?.state === undefined ? MESSAGE_STATE.ENROUTE : messageStateOf(message.state)
    const fields = { messageId: missing === undefined ? pdu.messageId : '', finalDate: '', errorCode: 0 }
    const shown = missing === undefined ? messageState : 0
    link.send({ command: 'query_sm_resp', status, sequence, ...fields, messageState: shown, tlvs: noTlvs })
  } else if (pdu.command === 'cancel_sm') {
    const status = missing ?? (isFinal ? COMMAND_STATUS.ESME_RCANCELFAIL : 0)
    link.send({ command: 'cancel_sm_resp', status, sequence, tlvs: noTlvs })
    if (status === 0 && open !== undefined) cancel(store, open, deleted)
  } else {
    const status = missing ?? (isFinal ? COMMAND_STATUS.ESME_RREPLACEFAIL : 0)
    link.send({ command: 'replace_sm_resp', status, sequence, tlvs: noTlvs })
  }
}

function cancel(store: Store, message: StoredMessage, deleted: (message: StoredMessage) => void): void {
  message.state = 'DELETED'
  store.progress(message)
  deleted(message)
}

/** Only those of the same system_id, by an id in the form of the answers. */
function findMessage(store: Store, link: Link, id: string, form: IdForm): ReturnType<MessageStore['find']> {
  const digits = form === 'huge' ? id.slice(1) : id
  const message = store.find(form === 'hexadecimal' ? parseInt(digits, 16) : Number(digits))
  return message?.systemId === link.bound?.systemId ? message : undefined
}
