import type { Brand } from '../brand.ts'
import type { Msisdn } from '../messages/msisdn.ts'
import type { Instant } from '../time/instant.ts'
import type { CarrierId } from './carrier-id.ts'

/**
 * What a network delivered and nobody could read (P-21), as far as it was read: a delivery receipt, a message of a
 * person that is no text, or a PDU of which not even that is known.
 */
export interface UnreadReceipt {
  readonly carrier: CarrierId
  /** The carrier's own id of the message; undefined: none was found. */
  readonly reference: string | undefined
  /** The recipient of the message, if that can be told; of a message of a person who sent it. */
  readonly number: Msisdn | undefined
  /** Without NUL; of a message of a person its data in hexadecimal. */
  readonly text: string
  /** As it came, in hexadecimal. */
  readonly pdu: string
  /** It is a message of a person. */
  readonly isMessage: boolean
}

/** Kinds of what could not be read. */
export type UnreadKind = 'receipt' | 'binary' | 'pdu'

/** Returns the kind: `pdu` if neither an id nor a text was found in it. */
export function unreadKindOf({
  isMessage,
  reference,
  text,
}: Pick<UnreadReceipt, 'isMessage' | 'reference' | 'text'>): UnreadKind {
  if (isMessage) return 'binary'
  return reference === undefined && text === '' ? 'pdu' : 'receipt'
}

/** Later ones have higher ids. */
export type UnreadReceiptId = Brand<number, 'UnreadReceiptId'>

export interface KeptUnreadReceipt extends UnreadReceipt {
  readonly id: UnreadReceiptId
  readonly at: Instant
}

export const unreadReceiptBounds = {
  /** The last so many are kept, of all carriers. */
  countMax: 10_000,
  /** And no longer than so many days. */
  days: 30,
} as const

/** Which are wanted. */
export interface UnreadReceiptFilter {
  /** Undefined: those of all carriers. */
  readonly carrier?: CarrierId | undefined
  /** Undefined: from the first one. */
  readonly since?: Instant | undefined
}

/** What nobody could read, for operators, and to be read once somebody says how or another release can. */
export interface UnreadReceipts {
  /** Once it has resolved, nothing is lost by a crash. More than `unreadReceiptBounds.countMax` displace the oldest. */
  keep(receipts: readonly UnreadReceipt[]): Promise<void>
  /** The oldest first: at most so many that came after this one; undefined: after none. */
  list(
    after: UnreadReceiptId | undefined,
    countMax: number,
    filter?: UnreadReceiptFilter,
  ): Promise<readonly KeptUnreadReceipt[]>
  /** They have been read. */
  drop(ids: readonly UnreadReceiptId[]): Promise<void>
}

const pageMax = 500

/** All of them, the oldest first, read in pages. */
export const listUnreadReceipts = ({ unreadReceipts }: { readonly unreadReceipts: UnreadReceipts }) =>
  async function* (carrier: CarrierId | undefined): AsyncIterable<KeptUnreadReceipt> {
    for (let after: UnreadReceiptId | undefined; ;) {
      const page = await unreadReceipts.list(after, pageMax, { carrier })
      yield* page
      after = page.at(-1)?.id
      if (after === undefined) return
    }
  }
