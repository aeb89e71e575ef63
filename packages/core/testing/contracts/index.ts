// Contracts that every adapter of a port must pass.
export type { Contract } from './shared.ts'
export { storedPortContracts } from './stored-ports.ts'
export { carrierContract } from './carrier.ts'
export { commitsContract, type HeldPorts } from './commits.ts'
export { promotedContract, type PromotablePorts } from './promotions.ts'
export { secretsContract } from './secrets.ts'
// Exported separately for adapters that keep failed log-ins in memory.
export { loginFailuresContract } from './account-rates.ts'
// Exported for the tests of SQL statements that implement this rule.
export { useRate } from './specification/accounts.ts'
