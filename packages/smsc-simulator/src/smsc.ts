import type { Arrival } from './arrivals.ts'
import type { JournalEntry } from './journal-entry.ts'

/** What was observed. */
export interface SmscStatus {
  readonly personality: string
  readonly links: readonly LinkStatus[]
  /** The most that were bound at the same time, and the most unanswered submissions of one link. */
  readonly bindsMax: number
  readonly windowMax: number
  /** Arrivals and receipts that are not acknowledged; receipts that are not due yet do not count. */
  readonly deliveriesWaiting: number
}

export interface LinkStatus {
  readonly link: number
  readonly systemId: string
  /** The bind, or `unbound`. */
  readonly kind: string
  readonly unansweredSubmissions: number
  readonly unansweredDeliveries: number
}

/** A running server. */
export interface Smsc {
  readonly port: number
  readonly controlPort: number | undefined
  /** The latest entries, so many or all, oldest first. */
  journal(count?: number): readonly JournalEntry[]
  status(): SmscStatus
  /** How many deliver_sm it takes, and when all were acknowledged. Throws an Error if it cannot be sent. */
  inject(arrival: Arrival): { readonly parts: number; readonly acknowledged: Promise<void> }
  /** From now on, for links that are there as well. Throws an Error for one that there is not. */
  become(name: string, changes?: Readonly<Record<string, unknown>>): void
  /** Closes every link at once, and goes on. */
  closeLinks(): void
  /** Ends. What is owed stays owed, if there is a folder. */
  close(): Promise<void>
}
