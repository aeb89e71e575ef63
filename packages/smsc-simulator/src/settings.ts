import type { Personality } from './personalities.ts'

/** What a server is started with. */
export interface SmscSettings {
  /** Of SMPP, on 127.0.0.1. Default 0: any free one. */
  readonly port?: number
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
  /** After which an unanswered deliver_sm is sent again, and a link without an enquire_link_resp closes. Default 10 000. */
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
