import type { StoredPorts } from '@gateway/core'
import type { Contract } from './contract.ts'
import { adopting } from './receipts/adopting.ts'
import { matching } from './receipts/matching.ts'

/** What the port `Receipts` promises. After each check no credit is missing and none too many. */
export const receiptsContract: Contract<StoredPorts> = { ...matching, ...adopting }
