import type { MessageId } from '../messages/message-id.ts'
import { isFinal, OUTCOME, type OutcomeCode } from '../messages/status-code.ts'
import type { SmppCredentialId } from './smpp-credential.ts'

/** Address as a customer wrote it, with its type and numbering plan (SMPP 3.4, 5.2.5 and 5.2.6). */
export interface SmppAddress {
  readonly address: string
  readonly ton: number
  readonly npi: number
}

/** Origin of a message that a customer submitted over SMPP. Stored with the options of its send. */
export interface SmppOptions {
  readonly credential: SmppCredentialId
  /** Address of the client. Undefined for messages of versions that did not record it. */
  readonly remote?: string | undefined
  /** Bits 0, 1 and 4 of registered_delivery (SMPP 3.4, 5.2.17); undefined: 0, no receipts. */
  readonly receipts?: number | undefined
  /** Source address of the submission; undefined: the customer named none. */
  readonly source?: SmppAddress | undefined
  /** Type and numbering plan of the destination address; the number itself is that of the message. */
  readonly destination?: Omit<SmppAddress, 'address'> | undefined
  /** Parts of a text that the customer submitted in parts, by their number. Undefined: one submission. */
  readonly parts?: readonly SmppPartOptions[] | undefined
}

/** Part of a joined text. Each has an id of its own and gets receipts of its own. */
export interface SmppPartOptions {
  readonly id: MessageId
  readonly receipts?: number | undefined
}

const receiptBits = { mask: 0b11, always: 1, onFailure: 2, onSuccess: 3, intermediate: 0x10 } as const

/** Bits of registered_delivery that request receipts. */
export const receiptBitsMask = receiptBits.mask | receiptBits.intermediate

/**
 * Returns the receipt that a registered_delivery requests for an outcome. For a final outcome, 1 always requests a
 * receipt, 2 only for a failure, and 3 only for a success. For any other outcome, bit 4 requests a notification.
 */
export function receiptFor(receipts: number, code: OutcomeCode): 'receipt' | 'notification' | undefined {
  if (!isFinal(code)) return (receipts & receiptBits.intermediate) === 0 ? undefined : 'notification'
  const choice = receipts & receiptBits.mask
  const isWanted =
    choice === receiptBits.always ||
    choice === (code === OUTCOME.delivered ? receiptBits.onSuccess : receiptBits.onFailure)
  return isWanted ? 'receipt' : undefined
}
