import type { HttpPersonality } from './personalities.ts'
import type { HttpProviderName } from './providers/index.ts'
import type { Secrets } from './providers/provider.ts'

/** Settings of a simulated provider. */
export interface HttpProviderSettings {
  readonly provider: HttpProviderName
  /** Port of the provider's API. Default 0, which means any free port. */
  readonly port?: number
  /** Address on which the API listens. Default 127.0.0.1. */
  readonly host?: string
  /** TLS certificate and key as PEM texts. Default: HTTP without TLS. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Port of the control on 127.0.0.1; 0 means any free port. Default: the control is off. */
  readonly controlPort?: number
  /** Name in `HTTP_PERSONALITIES`. Default `default`. */
  readonly personality?: string
  /** Changed fields of the personality. */
  readonly changes?: Partial<HttpPersonality>
  /** The only values of secrets with which requests are accepted, and the secrets that sign callbacks. Default: any. */
  readonly secrets?: Secrets
  /** URL of callbacks whose URL is not in the request, as an operator enters it at the provider's console. */
  readonly callbackUrl?: string
  /** Maximum number of callbacks without an answer. Default 100. */
  readonly callbackWindow?: number
  /**
   * File to which a line of JSON is appended for each message and each answered callback. A provider that is started
   * with an existing file sends the receipts that it owes, if it can sign them with `secrets`. Default: none.
   */
  readonly journalFile?: string
  /** Maximum number of journal entries in memory. Default 100 000. */
  readonly journalEntriesMax?: number
  /** Returns the time in milliseconds since 1970. Default: the machine's clock. */
  readonly now?: () => number
}

/** Message from a mobile that an operator injects. */
export interface HttpArrival {
  readonly from: string
  readonly to: string
  readonly text: string
}

/** Message or answered callback. */
export type HttpJournalEntry = MessageEntry | CallbackEntry

export interface MessageEntry {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly event: 'message'
  readonly to: string
  readonly from: string
  readonly text: string
  readonly ownId?: string | undefined
  /** URL of the request for receipts. */
  readonly callback?: string | undefined
  /** The provider's id. Undefined if the message was not accepted. */
  readonly id?: string | undefined
  /**
   * `accepted`, `repeated`, a refusal, or `ignored` for a message that was neither accepted nor refused.
   */
  readonly decision: string
  /** Form of the answer. */
  readonly answer: string
}

export interface CallbackEntry {
  readonly at: number
  readonly event: 'callback'
  readonly kind: 'receipt' | 'forged receipt' | 'reply'
  readonly id: string
  readonly state?: string
  /** Status of the answer. Undefined if no answer arrived. */
  readonly status: number | undefined
}

/** Observations of a simulated provider. */
export interface HttpProviderStatus {
  readonly provider: string
  readonly personality: string
  /** Number of messages for each decision. */
  readonly messages: Readonly<Record<string, number>>
  readonly connections: number
  /** Largest number of requests without an answer. */
  readonly windowMax: number
  /** Number of callbacks by the status of their answer. */
  readonly callbackAnswers: Readonly<Record<string, number>>
  /** Number of due callbacks without an answer 2xx or 4xx. */
  readonly callbacksWaiting: number
  /** Key that verifies callbacks, if the provider signs with a private key. */
  readonly publicKey?: string
}

/** A running simulated provider. */
export interface HttpProviderServer {
  readonly url: string
  readonly port: number
  readonly controlPort: number | undefined
  /** Returns the latest `count` journal entries or all, oldest first. */
  journal(count?: number): readonly HttpJournalEntry[]
  status(): HttpProviderStatus
  /** Sends a message from a mobile. Throws an Error if no URL of callbacks is known. */
  inject(arrival: HttpArrival): void
  /** Changes the personality. Throws an Error for an unknown name or field. */
  become(name: string, changes?: Readonly<Record<string, unknown>>): void
  /** Resets every connection at once. The server keeps running. */
  resetConnections(): void
  /** Stops the server. Callbacks without an answer are lost. */
  close(): Promise<void>
}
