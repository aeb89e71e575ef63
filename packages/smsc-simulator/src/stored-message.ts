import type { ReceiptState } from './outcomes.ts'

/** A message that was taken. */
export interface StoredMessage {
  readonly number: number
  /** Of a submit_multi but its first message: the number of that, whose id all have. */
  readonly first?: number
  readonly systemId: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly fromTon: number
  readonly fromNpi: number
  readonly from: string
  readonly toTon: number
  readonly toNpi: number
  readonly to: string
  /** The receipts to send, in order. */
  readonly receipts: readonly ReceiptState[]
  readonly reply: string | undefined
  /** So many receipts, and then the reply, were acknowledged. */
  done: number
  /** The last state that a receipt told or will tell; undefined: under way. */
  state: ReceiptState | undefined
}

/** The number that the id of a message says. */
export const idNumberOf = ({ number, first }: StoredMessage): number => first ?? number

/** What is kept of a message for which nothing is owed any more. */
export type EndedMessage = Pick<StoredMessage, 'systemId' | 'state'> & { readonly hasEnded: true }
