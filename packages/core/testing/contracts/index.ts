// Contracts that every adapter of a port must pass.
export type { Contract } from './shared.ts'
export { storedPortContracts } from './stored-ports.ts'
export { carrierContract } from './carrier.ts'
export { commitsContract, type HeldPorts } from './commits.ts'
export { promotedContract, type PromotablePorts } from './promotions.ts'
export { secretsContract } from './secrets.ts'
// Failed log-ins alone, for adapters that keep them in memory.
export { loginFailuresContract } from './account-rates.ts'
// Rules that statements implement, for tests beside those statements.
export { useRate } from './specification/accounts.ts'
