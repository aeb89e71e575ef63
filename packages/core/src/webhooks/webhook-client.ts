/** Why an address is refused before anything is sent to it. */
export type UrlRefusal =
  'not-a-url' | 'not-https' | 'credentials-in-url' | 'port-not-allowed' | 'too-long' | 'internal-address'

export interface PushRequest {
  readonly url: string
  /** Of the list: the same over all tries. */
  readonly id: string
  /** Seconds since 1970 of this try. */
  readonly timestamp: number
  /** Sent in UTF-8. */
  readonly body: string
  /** One signature for each, the current one first. */
  readonly secrets: readonly string[]
}

/**
 * Why there is no answer. Not signed: no secret could be opened. Unreadable: this version cannot read what is stored.
 * Of both nothing was sent.
 */
export type PushFailure =
  | UrlRefusal
  | 'name-not-found'
  | 'connection-failed'
  | 'tls-failed'
  | 'timeout'
  | 'connection-closed'
  | 'invalid-answer'
  | 'stopped'
  | 'not-signed'
  | 'unreadable'

/** What came of one request. `milliseconds` is how long it took. */
export type PushAnswer =
  | {
      readonly outcome: 'answered'
      readonly status: number
      /** As the header says it, in seconds from now; undefined: it says nothing that can be read. */
      readonly retryAfterSeconds: number | undefined
      /** At most the first 500 characters. */
      readonly beginning: string
      readonly milliseconds: number
    }
  | { readonly outcome: 'failed'; readonly failure: PushFailure; readonly milliseconds: number }

/** Pushes to addresses that strangers name, without reaching anything internal. */
export interface WebhookClient {
  /** Looks at the text only: no name is resolved. */
  refusalOf(url: string): UrlRefusal | undefined
  /** One signed POST. Never rejects; has an answer within 15 seconds. */
  push(request: PushRequest): Promise<PushAnswer>
  /** Lets requests end, until `deadline` has resolved; what is under way then has failed, 'stopped'. */
  close(deadline: Promise<unknown>): Promise<void>
}
