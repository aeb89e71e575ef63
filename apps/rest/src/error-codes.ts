interface ErrorCodeEntry {
  /** HTTP status of every response with this code. */
  readonly status: number
  readonly cause: string
  readonly remedy: string
}

/**
 * All values of `errorCode`, in order of precedence: if several apply, the first is returned (rulings 2.3, 2.16). The
 * codes for internal failures (ruling 1.25) and malformed HTTP are last. docs/interfaces/rest.md has the same table. A
 * code never changes its meaning.
 */
export const ERROR_CODES = {
  'no-such-path': {
    status: 404,
    cause: 'The path does not exist.',
    remedy: 'Compare spelling and letter case with the operations.',
  },
  'no-such-webhook': {
    status: 404,
    cause: 'The account has no webhook with this id.',
    remedy: 'Take the id from the list of webhooks.',
  },
  'no-such-replay': {
    status: 404,
    cause: 'The webhook had no replay in the last 30 days.',
    remedy: 'Start one.',
  },
  'wrong-method': {
    status: 405,
    cause: 'The path requires another method.',
    remedy: 'Use a method that the header `Allow` names.',
  },
  'missing-key': {
    status: 401,
    cause: 'There is no `Authorization` header, or it is empty.',
    remedy: 'Send the API key in it.',
  },
  'invalid-key': {
    status: 401,
    cause: 'The API key is wrong, expired or revoked.',
    remedy: 'Ask the operator for another key.',
  },
  'body-too-large': {
    status: 413,
    cause: 'The body has more than 204 800 bytes.',
    remedy: 'Divide it into several requests.',
  },
  'wrong-content-type': {
    status: 415,
    cause: 'The content type is not `application/json`.',
    remedy: 'Send `Content-Type: application/json`.',
  },
  'encoded-body': {
    status: 415,
    cause: 'The request has a `Content-Encoding`.',
    remedy: 'Send the body without compression.',
  },
  'not-json': {
    status: 400,
    cause: 'The body is not valid JSON, or not UTF-8.',
    remedy: 'Write it with a JSON library, in UTF-8.',
  },
  'wrong-body': {
    status: 422,
    cause: 'The body is not an object, not an array of message ids, or is nested more than 64 deep.',
    remedy: 'Send the body of the operation.',
  },
  'field-missing': {
    status: 422,
    cause: 'A required field is missing; the message names it.',
    remedy: 'Add it.',
  },
  'field-invalid': {
    status: 422,
    cause:
      'A field has the wrong type, range or form; the message names the field, the expected and the received value.',
    remedy: 'Correct the field.',
  },
  'unusable-text': {
    status: 422,
    cause: 'A string contains U+0000 or an unpaired surrogate.',
    remedy: 'Remove that character.',
  },
  'blank-message': { status: 422, cause: 'The text of a message is blank.', remedy: 'Send a text.' },
  'invalid-time': {
    status: 422,
    cause: 'A time is not `YYYYMMDDHHmm`, or does not exist.',
    remedy: 'Write the time at GMT+2 in 12 digits.',
  },
  'invalid-sender': {
    status: 422,
    cause: 'The `sender` is malformed, or the account may not use it for these numbers.',
    remedy: 'Use a sender that the operator has allowed, or omit the field.',
  },
  'too-many-recipients': {
    status: 422,
    cause: 'The request has more than 1000 recipients in all.',
    remedy: 'Divide them into several requests.',
  },
  'invalid-message-id': {
    status: 422,
    cause: 'An element of the array is not a message id.',
    remedy: 'Write each id as a number, in digits only.',
  },
  'no-message-ids': { status: 422, cause: 'The array of message ids is empty.', remedy: 'Send at least one id.' },
  'too-many-message-ids': {
    status: 422,
    cause: 'The array has more than 1000 message ids.',
    remedy: 'Divide them into several requests.',
  },
  'invalid-parameter': {
    status: 422,
    cause: '`offset` or `limit` is not a whole number in its range.',
    remedy: 'Correct the parameter that the message names.',
  },
  'invalid-idempotency-key': {
    status: 422,
    cause: 'The `Idempotency-Key` does not have 1 to 255 printable characters.',
    remedy: 'Use such a key, for example a UUID.',
  },
  'idempotency-key-reused': {
    status: 422,
    cause: 'The `Idempotency-Key` was used for another request in the last 48 hours.',
    remedy: 'Use a new key for each new request.',
  },
  'invalid-url': {
    status: 422,
    cause: 'The URL cannot be used for a webhook; the message gives the reason.',
    remedy: 'Use a public `https` URL.',
  },
  'too-many-webhooks': {
    status: 422,
    cause: 'The account has 10 webhooks.',
    remedy: 'Change or remove one of them.',
  },
  'replay-running': {
    status: 409,
    cause: 'A replay of the account is running; the message has its number.',
    remedy: 'Wait until it is done, or stop it.',
  },
  'too-many-requests': {
    status: 429,
    cause: 'The account sends more than the limit that its operator has set. Nothing was done.',
    remedy: 'Repeat the request after the seconds in `Retry-After`.',
  },
  'internal-error': {
    status: 500,
    cause: 'A defect of the gateway. The work may have been done.',
    remedy: 'Report the `X-Request-Id` to the operator. Repeat a send only with its `Idempotency-Key`.',
  },
  busy: {
    status: 503,
    cause: 'The gateway is overloaded. Nothing was done.',
    remedy: 'Repeat the request after the seconds in `Retry-After`.',
  },
  unavailable: {
    status: 503,
    cause:
      'The gateway cannot process the request now, for example because its database is down. Without `Retry-After` the work may have been done.',
    remedy: 'With `Retry-After`, repeat the request. Without it, repeat a send only with its `Idempotency-Key`.',
  },
  'malformed-request': {
    status: 400,
    cause: 'The request is not valid HTTP.',
    remedy: 'Use an HTTP library; check proxies between the client and the gateway.',
  },
  'request-timeout': {
    status: 408,
    cause: 'The request did not arrive within 60 s.',
    remedy: 'Send it faster, or in smaller parts.',
  },
  'chunk-extensions-too-long': {
    status: 413,
    cause: 'The extensions of a chunk of the body are too long.',
    remedy: 'Send chunks without extensions.',
  },
  'expectation-failed': {
    status: 417,
    cause: 'The header `Expect` has another value than `100-continue`.',
    remedy: 'Remove the header.',
  },
  'headers-too-large': {
    status: 431,
    cause: 'The request line and the headers have more than 65 536 bytes.',
    remedy: 'Send fewer or shorter headers.',
  },
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>

/** Stable word for the cause of an error (ruling 2.16). */
export type ErrorCode = keyof typeof ERROR_CODES

export const errorCodes = Object.keys(ERROR_CODES) as readonly ErrorCode[]

export const statusOf = (code: ErrorCode): number => ERROR_CODES[code].status
