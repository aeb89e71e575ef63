/** Reason why a webhook URL is refused before a request is sent. */
export type UrlRefusal =
  'not-a-url' | 'not-https' | 'credentials-in-url' | 'port-not-allowed' | 'too-long' | 'internal-address'

export interface PushRequest {
  readonly url: string
  /** Id of the list, the same for every attempt. */
  readonly id: string
  /** Time of this attempt, in seconds since 1970. */
  readonly timestamp: number
  /** Body, sent in UTF-8. */
  readonly body: string
  /** Signing secrets, the current one first. The request has one signature for each. */
  readonly secrets: readonly string[]
}

/**
 * Reason why a push has no response. `not-signed`: no secret could be decrypted. `unreadable`: this version cannot read
 * the stored list. In both cases no request was sent.
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

/** Result of one push. `milliseconds` is its duration. */
export type PushAnswer =
  | {
      readonly outcome: 'answered'
      readonly status: number
      /** Value of the Retry-After header in seconds from now, or undefined if it is missing or unreadable. */
      readonly retryAfterSeconds: number | undefined
      /** First 500 characters of the body at most. */
      readonly beginning: string
      readonly milliseconds: number
    }
  | { readonly outcome: 'failed'; readonly failure: PushFailure; readonly milliseconds: number }

/** Sends requests to URLs that customers configure and never connects to an internal address. */
export interface WebhookClient {
  /**
   * Returns why a URL would be refused, or undefined if it would not. Checks only the text of the URL: no name is
   * resolved.
   */
  refusalOf(url: string): UrlRefusal | undefined
  /** Sends one signed POST. Never rejects; resolves within 15 seconds. */
  push(request: PushRequest): Promise<PushAnswer>
  /** Waits for requests until `deadline` resolves, then fails those under way as 'stopped'. */
  close(deadline: Promise<unknown>): Promise<void>
}
