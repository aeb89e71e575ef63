import type { Arrival } from './arrivals.ts'
import type { JournalEntry } from './journal.ts'
import type { Personality } from './personalities.ts'

/** What a server is started with. */
export interface SmscSettings {
  /** Of SMPP. Default 0: any free one. */
  readonly port?: number
  /** Where SMPP listens. Default 127.0.0.1. */
  readonly host?: string
  /** Default: without TLS. */
  readonly tls?: SmscTls
  /** Of HTTP, on 127.0.0.1; 0: any free one. Default: no HTTP. */
  readonly controlPort?: number
  /** The name of one of `PERSONALITIES`. Default `default`. */
  readonly personality?: string
  /** Other values for some fields of the personality. */
  readonly changes?: Partial<Personality>
  /** The only system_id and password that may bind. Default: any. */
  readonly systemId?: string
  readonly password?: string
  /** Binds of one system_id at the same time. Default 100. */
  readonly bindsMax?: number
  /** Appended to, a line of JSON for each PDU. Default: none. */
  readonly journalFile?: string
  /** The journal keeps so many entries in memory. Default 100 000. */
  readonly journalEntriesMax?: number
  /** Keeps messages and what is owed for them over a restart. Default: none. */
  readonly folder?: string
  /** Unacknowledged deliver_sm of one link. Default 100. */
  readonly deliveryWindow?: number
  /**
   * After which an unanswered deliver_sm is sent again, and a link without an enquire_link_resp closes. Default 10 000.
   */
  readonly responseTimeoutMilliseconds?: number
  /** After which a deliver_sm that was refused for now is sent again. Default 1000. */
  readonly retryMilliseconds?: number
  /** Between two enquire_link. Default 30. */
  readonly enquireSeconds?: number
  /** Default: the time. Milliseconds since 1970. */
  readonly now?: () => number
}

/** Certificates as PEM texts. */
export interface SmscTls {
  readonly cert: string
  readonly key: string
  /** Who binds needs a certificate of this authority. Default: needs none. */
  readonly clientCa?: string
}

/** With every default filled in. */
export type FilledSettings = SmscSettings &
  Required<
    Pick<
      SmscSettings,
      'bindsMax' | 'deliveryWindow' | 'responseTimeoutMilliseconds' | 'retryMilliseconds' | 'enquireSeconds' | 'now'
    >
  >

export const filled = (settings: SmscSettings): FilledSettings => ({
  bindsMax: 100,
  deliveryWindow: 100,
  responseTimeoutMilliseconds: 10_000,
  retryMilliseconds: 1000,
  enquireSeconds: 30,
  now: () => Date.now(),
  ...settings,
})

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
