import type { StoredPorts } from '@gateway/core'
import type { Contract } from './contract.ts'
import { agreeing } from './inbox/agreeing.ts'
import { optingOut } from './inbox/opting-out.ts'
import { owning } from './inbox/owning.ts'
import { repeating } from './inbox/repeating.ts'
import { taking } from './inbox/taking.ts'

/** What the port `Inbox` promises, and what opt-outs have to do with it. */
export const inboxContract: Contract<StoredPorts> = { ...agreeing, ...owning, ...repeating, ...optingOut, ...taking }
