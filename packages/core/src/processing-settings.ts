import type { Body } from './message/body.ts'
import { confirmationOf, defaultConfirmation } from './inbox/receive.ts'
import { contactDaysDefault } from './message/drop-history.ts'

/** What an operator may set for what arrives and what is kept. */
export interface ProcessingSettings {
  /** What confirms an opt-out (ruling 1.21). */
  readonly confirmation: Body
  /** Days for which it is remembered who wrote last to a number whose history is gone (ruling 1.18). */
  readonly contactDays: number
}

export const processingDefaults: ProcessingSettings = {
  confirmation: confirmationOf(defaultConfirmation),
  contactDays: contactDaysDefault,
}
