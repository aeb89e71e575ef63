import type { StoredPorts } from '@gateway/core'
import type { Contract } from './contract.ts'
import { configuring } from './webhooks/configuring.ts'

/** What the port `Webhooks` promises, and what other ports promise about events. */
export const webhooksContract: Contract<StoredPorts> = { ...configuring }
