import { operatorCommand } from '../command.ts'
import type { OperatorPorts } from '../ports.ts'
import { decideDoubt } from './decide-doubt.ts'
import type { UnmatchedReceipt } from './delivery-receipts.ts'
import type { FailedOverSend, Promotion } from './promotions.ts'
import { listUnreadReceipts } from './list-unread-receipts.ts'

export const dispatchQueries = (ports: OperatorPorts) => ({
  listUnreadReceipts: listUnreadReceipts(ports),
  listUnmatchedReceipts: (countMax: number): Promise<readonly UnmatchedReceipt[]> =>
    ports.deliveryReceipts.unmatched(countMax),
  listPromotions: (): Promise<readonly Promotion[]> => ports.promotions.open(),
  listFailedOverSends: (): Promise<readonly FailedOverSend[]> => ports.promotions.failedOverSends(),
})

export const dispatchCommands = {
  decideDoubt: operatorCommand({
    role: 'admin',
    run: decideDoubt,
    audit: (decision) => ({ given: { decision }, outcome: (decided) => ({ ...decided }) }),
  }),
}
