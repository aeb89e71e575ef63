interface ErrorCodeEntry {
  /** The HTTP status of every answer with this code. */
  readonly status: number
  readonly cause: string
  readonly remedy: string
}

/**
 * Every `errorCode` of the interface, in the order in which they win where several apply (rulings 2.3, 2.16), then our
 * own trouble (ruling 1.25) and what is no HTTP. docs/interfaces/rest.md has the same table. A code never changes its
 * meaning.
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
    remedy: 'Begin one.',
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
    cause: 'The body is no object, or no array of message ids, or is nested more than 64 deep.',
    remedy: 'Send the body of the operation.',
  },
  'field-missing': {
    status: 422,
    cause: 'A required field is missing; the message names it.',
    remedy: 'Add it.',
  },
  'field-invalid': {
    status: 422,
    cause: 'A field has the wrong type, range or form; the message names it, what is expected and what came.',
    remedy: 'Correct the field.',
  },
  'unusable-text': {
    status: 422,
    cause: 'A string holds U+0000 or half a surrogate pair.',
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
    cause: 'The `sender` is none, or the account may not use it, or not for these numbers.',
    remedy: 'Use one that the operator has allowed for them, or none.',
  },
  'too-many-recipients': {
    status: 422,
    cause: 'The request has more than 1000 recipients in all.',
    remedy: 'Divide them into several requests.',
  },
  'invalid-message-id': {
    status: 422,
    cause: 'An element of the array is no message id.',
    remedy: 'Write each id as a number, in digits only.',
  },
  'no-message-ids': { status: 422, cause: 'The array of message ids is empty.', remedy: 'Name at least one.' },
  'too-many-message-ids': {
    status: 422,
    cause: 'The array has more than 1000 message ids.',
    remedy: 'Divide them into several requests.',
  },
  'invalid-parameter': {
    status: 422,
    cause: '`offset` or `limit` is no whole number in its range.',
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
    cause: 'Nothing is pushed to such a URL; the message says why.',
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
    remedy: 'Repeat the request after as many seconds as `Retry-After` says.',
  },
  'internal-error': {
    status: 500,
    cause: 'A defect of the gateway. The work may have been done.',
    remedy: 'Tell the operator the `X-Request-Id`. Repeat a send with its `Idempotency-Key` only.',
  },
  busy: {
    status: 503,
    cause: 'The gateway has too much to do. Nothing was done.',
    remedy: 'Repeat the request after as many seconds as `Retry-After` says.',
  },
  unavailable: {
    status: 503,
    cause:
      'The gateway cannot do it now, for example without its database. Without `Retry-After` it may have been done.',
    remedy: 'With `Retry-After` repeat it; without, repeat a send with its `Idempotency-Key` only.',
  },
  'malformed-request': {
    status: 400,
    cause: 'The request is no valid HTTP.',
    remedy: 'Use an HTTP library; look at what is between it and the gateway.',
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
    remedy: 'Leave it out.',
  },
  'headers-too-large': {
    status: 431,
    cause: 'The request line and the headers have more than 65 536 bytes.',
    remedy: 'Send fewer or shorter headers.',
  },
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>

/** A stable word for the cause of an error (ruling 2.16). */
export type ErrorCode = keyof typeof ERROR_CODES

export const errorCodes = Object.keys(ERROR_CODES) as readonly ErrorCode[]

export const statusOf = (code: ErrorCode): number => ERROR_CODES[code].status
