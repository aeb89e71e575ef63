import { withoutSomeDigits } from '../audit/redact.ts'
import { operatorCommand } from '../command.ts'
import type { InboxPorts } from '../ports.ts'
import { blockNumber, blockNumbers, importOptOuts, unblockNumber, type BlockReason } from './change-suppressions.ts'
import type { SuppressionEntry } from './suppressions.ts'

export const suppressionQueries = (ports: InboxPorts) => ({
  listBlockedNumbers: (reason: BlockReason): AsyncIterable<SuppressionEntry> =>
    ports.suppressions.list('everybody', reason),
})

export const suppressionCommands = {
  blockNumber: operatorCommand({
    role: 'support',
    run: blockNumber,
    audit: (number, reason) => ({ given: { number: withoutSomeDigits(number), reason } }),
  }),
  blockNumbers: operatorCommand({
    role: 'admin',
    run: blockNumbers,
    audit: (numbers, reason) => ({ given: { numbers: numbers.length, reason } }),
  }),
  unblockNumber: operatorCommand({
    role: 'support',
    run: unblockNumber,
    audit: (number, reasons) => ({
      given: { number: withoutSomeDigits(number), reasons },
      outcome: (removed) => removed,
    }),
  }),
  importOptOuts: operatorCommand({
    role: 'admin',
    run: importOptOuts,
    audit: ({ id }, entries) => ({ account: id, given: { numbers: entries.length } }),
  }),
}
