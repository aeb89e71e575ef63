import { withoutSomeDigits } from '../audit/redact.ts'
import { operatorCommand } from '../command.ts'
import type { Msisdn } from '../messages/msisdn.ts'
import type { OperatorPorts } from '../ports.ts'
import { eraseNumber, exportNumber, erasureObstacles, listErasures, type ErasureObstacles } from './erase-number.ts'

export const personalDataQueries = (ports: OperatorPorts) => ({
  erasureObstacles: (number: Msisdn): Promise<ErasureObstacles> => erasureObstacles(ports, number),
  listErasures: listErasures(ports),
})

export const personalDataCommands = {
  /** A command, because every export of personal data is recorded. */
  exportNumber: operatorCommand({
    role: 'admin',
    run: exportNumber,
    audit: (number) => ({ given: { number: withoutSomeDigits(number) } }),
  }),
  // The audit log must not contain any digit of the number, because an erasure does not change the log. The record of
  // the erasure has a digest of the number.
  eraseNumber: operatorCommand({
    role: 'admin',
    run: eraseNumber,
    audit: () => ({ outcome: (erased) => ('erasure' in erased ? { erasure: erased.erasure } : 'held-up') }),
  }),
}
