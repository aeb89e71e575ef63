import type { AccountId } from '../account/account.ts'
import type { MessageId } from '../message/message-id.ts'
import type { Ports } from '../ports.ts'
import type { Refunded, RefundRefusal } from './ledger.ts'

/**
 * Gives back what one message was charged, once ever (P-2), and says why in the ledger. Refused for a message of another account than
 * `of`, if that is given, as for one that is not there.
 */
export const refundMessage =
  (ports: Pick<Ports, 'ledger' | 'messageTraces' | 'clock'>) =>
  async (
    message: MessageId,
    why: string,
    of?: AccountId,
  ): Promise<Refunded | RefundRefusal | 'no-reason' | 'other-account'> => {
    if (why.trim() === '') return 'no-reason'
    if (of !== undefined) {
      const trace = await ports.messageTraces.of(message)
      if (trace === undefined) return 'no-such-message'
      if (trace.account !== of) return 'other-account'
    }
    return ports.ledger.refund({ message, why: why.trim() }, ports.clock.now())
  }
