import type { Arrival } from './arrivals.ts'
import type { JournalEntry } from './journal.ts'
import type { Personality } from './personalities.ts'

/** Settings of a server. */
export interface SmscSettings {
  /** Port of SMPP. Default 0, which means any free port. */
  readonly port?: number
  /** Address on which SMPP listens. Default 127.0.0.1. */
  readonly host?: string
  /** TLS certificates. Default: SMPP without TLS. */
  readonly tls?: SmscTls
  /** Port of HTTP on 127.0.0.1; 0 means any free port. Default: HTTP is off. */
  readonly controlPort?: number
  /** Name in `PERSONALITIES`. Default `default`. */
  readonly personality?: string
  /** Changed fields of the personality. */
  readonly changes?: Partial<Personality>
  /** The only system_id that may bind. Default: any. */
  readonly systemId?: string
  /** The only password that may bind. Default: any. */
  readonly password?: string
  /** Maximum number of binds of one system_id at a time. Default 100. */
  readonly bindsMax?: number
  /** File to which a line of JSON is appended for each PDU. Default: none. */
  readonly journalFile?: string
  /** Maximum number of journal entries in memory. Default 100 000. */
  readonly journalEntriesMax?: number
  /** Folder that keeps messages and their outstanding receipts across restarts. Default: none. */
  readonly folder?: string
  /** Maximum number of unacknowledged deliver_sm on one link. Default 100. */
  readonly deliveryWindow?: number
  /**
   * Milliseconds after which an unanswered deliver_sm is sent again. A link on which an enquire_link stays unanswered
   * for this time is closed. Default 10 000.
   */
  readonly responseTimeoutMilliseconds?: number
  /** Milliseconds after which a temporarily refused deliver_sm is sent again. Default 1000. */
  readonly retryMilliseconds?: number
  /** Time between two enquire_link. Default 30. */
  readonly enquireSeconds?: number
  /** Returns the time in milliseconds since 1970. Default: the machine's clock. */
  readonly now?: () => number
}

/** Certificates as PEM texts. */
export interface SmscTls {
  readonly cert: string
  readonly key: string
  /** Authority of the certificates that clients need. Default: clients need none. */
  readonly clientCa?: string
}

/** Settings with all defaults. */
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

/** Numbers and links that a running server reports. */
export interface SmscStatus {
  readonly personality: string
  readonly links: readonly LinkStatus[]
  /** Largest number of links bound at the same time. */
  readonly bindsMax: number
  /** Largest number of unanswered submissions of one link. */
  readonly windowMax: number
  /** Number of arrivals and due receipts without an acknowledgement. */
  readonly deliveriesWaiting: number
}

export interface LinkStatus {
  readonly link: number
  readonly systemId: string
  /** Command of the bind, or `unbound`. */
  readonly kind: string
  readonly unansweredSubmissions: number
  readonly unansweredDeliveries: number
}

/** A running server. */
export interface Smsc {
  readonly port: number
  readonly controlPort: number | undefined
  /** Returns the latest `count` journal entries or all, oldest first. */
  journal(count?: number): readonly JournalEntry[]
  status(): SmscStatus
  /**
   * Sends an arrival. Returns the number of its deliver_sm, and a promise that resolves when all are acknowledged.
   * Throws an Error if the arrival cannot be sent.
   */
  inject(arrival: Arrival): { readonly parts: number; readonly acknowledged: Promise<void> }
  /** Changes the personality, also for open links. Throws an Error for an unknown name or field. */
  become(name: string, changes?: Readonly<Record<string, unknown>>): void
  /** Closes every link at once. The server keeps running. */
  closeLinks(): void
  /** Stops the server. With a folder, outstanding receipts are sent by the next run. */
  close(): Promise<void>
}
