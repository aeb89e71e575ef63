export type { Arrival } from './arrivals.ts'
export type { JournalEntry } from './journal.ts'
export type { IdForm } from './message-store.ts'
export { outcomeOf, type Outcome, type ReceiptState } from './outcomes.ts'
export { PERSONALITIES, type Personality, type PersonalityName } from './personalities.ts'
export type { SmscSettings } from './settings.ts'
export type { LinkStatus, Smsc, SmscStatus } from './settings.ts'
export { startSmsc } from './start-smsc.ts'
export { httpOutcomeOf, type AnswerForm, type HttpOutcome } from './http/outcomes.ts'
export { HTTP_PERSONALITIES, type HttpPersonality } from './http/personalities.ts'
export { httpProviders, type HttpProviderName } from './http/providers/index.ts'
export type { ProviderFormat, ReportedState } from './http/providers/provider.ts'
export type {
  HttpArrival,
  HttpJournalEntry,
  HttpProviderServer,
  HttpProviderSettings,
  HttpProviderStatus,
} from './http/settings.ts'
export { startHttpProvider } from './http/start-http-provider.ts'
