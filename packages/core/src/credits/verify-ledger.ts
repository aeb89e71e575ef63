import type { Ports } from '../ports.ts'
import type { LedgerCheck } from './ledger.ts'

/** Recomputes every balance from the ledger (P-2). Any difference is a defect of the product, or a hand in the database. */
export const verifyLedger = (ports: Pick<Ports, 'ledger'>) => (): Promise<LedgerCheck> => ports.ledger.check()
