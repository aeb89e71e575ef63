/** What an entry of the ledger is; the debits of sends are the sends themselves. */
export const LEDGER = { topUp: 1, transfer: 2, refund: 3, droppedSends: 4 } as const
