import type { Account } from './account.ts'

const allowedWhenLocked = {
  /** Log in, and read balance, statuses, lists, replies and opt-outs; the log-in itself is told that the account is locked. */
  read: true,
  deleteScheduled: true,
  changeOptOuts: true,
  /** A new message is refused for each recipient; one that waits is stopped when its turn comes (ruling 1.13). */
  send: false,
  /** Give credits, take them, or ask for a transfer of others. */
  transfer: false,
  confirmOptOut: false,
} as const

/** Whether an account may do this: a lock stops some acts and no others (ruling 1.14). Only the operator locks an account. */
export const may = ({ locked }: Pick<Account, 'locked'>, act: keyof typeof allowedWhenLocked): boolean =>
  !locked || allowedWhenLocked[act]
