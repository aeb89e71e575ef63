import { carrierShareContracts } from './contracts.ts'
import { memoryCarrierShares } from './memory-carrier-shares.ts'

describe.each(Object.entries(carrierShareContracts))('%s in memory', (_, contract) => {
  test.each(Object.entries(contract))('%s', (_, check) => check(memoryCarrierShares()))
})
