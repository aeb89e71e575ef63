import type { MessageFacts, Outcome } from '@gateway/core'
import type { Decision, MessageRow } from './rows.ts'

export const factsOf = ({ number, cost, send: { due }, decision, refund }: MessageRow): MessageFacts => ({
  number,
  cost,
  due,
  outcome: decision && { ...outcomeOf(decision), isRefunded: refund !== undefined },
})

export const outcomeOf = ({ code, at, reference }: Decision): Outcome => ({
  code,
  at,
  hasReference: reference !== undefined,
})
