// Contracts that every adapter of the ports of this package must pass, and their adapter in memory.
export { carrierShareContracts } from './contracts.ts'
export { memoryCarrierShares } from './memory-carrier-shares.ts'
