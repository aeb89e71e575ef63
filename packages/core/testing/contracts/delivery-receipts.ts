import type { StoredPorts } from '@gateway/core'
import type { Contract } from './contract.ts'
import { adopting } from './delivery-receipts/adopting.ts'
import { agreeing } from './delivery-receipts/agreeing.ts'
import { matching } from './delivery-receipts/matching.ts'
import { parts } from './delivery-receipts/parts.ts'

/** What the port `DeliveryReceipts` promises. After each check no credit is missing and none too many. */
export const deliveryReceiptsContract: Contract<StoredPorts> = { ...matching, ...adopting, ...agreeing, ...parts }
