import { formatStamp, type Instant } from '@gateway/core/time'

/** Returns the beginning of a REST answer (ruling 2.1). The caller adds the fields and closes the object. */
export const restEnvelope = (status: number, now: Instant): string =>
  `{"timeStamp":"${formatStamp(now)}","version":"1.0","statusCode":${status}`

export const restContentType = 'application/json; charset=utf-8'

/**
 * Returns true for a path of REST, even if the process does not serve REST (ruling 3.8). Paths of REST are
 * case-sensitive.
 */
export const isRestPath = (path: string): boolean => /^\/api\/rest\//.test(path)

export const noSuchRestPath = 'This path does not exist; spelling and letter case matter.'

/** Error codes of requests that are refused before an endpoint reads them, by HTTP status (ruling 1.31). */
export const restRefusalCode = {
  400: 'malformed-request',
  404: 'no-such-path',
  408: 'request-timeout',
  413: 'chunk-extensions-too-long',
  417: 'expectation-failed',
  431: 'headers-too-large',
  503: 'busy',
} as const

const isKnown = (status: number): status is keyof typeof restRefusalCode => status in restRefusalCode

/** Returns the error code of a refused request. A status without a code of its own has the code of 400. */
export const restCodeOf = (status: number) => restRefusalCode[isKnown(status) ? status : 400]

/**
 * Returns the REST answer of a process that does not serve REST: either the path does not exist (404), or the request
 * was refused earlier for `reason`.
 */
export function restRefusal({ status, reason }: { readonly status: number; readonly reason: string }, now: Instant) {
  // For a process that does not serve REST every path is unknown, and an unknown path takes precedence over an unknown
  // method (ruling 2.3).
  const answered = status === 405 ? { status: 404, reason: noSuchRestPath } : { status, reason }
  const fields = `"errorMessage":${JSON.stringify(answered.reason)},"errorCode":"${restCodeOf(answered.status)}"`
  return {
    status: answered.status,
    contentType: restContentType,
    headers: answered.status === 503 ? { 'Retry-After': '1' } : {},
    body: `${restEnvelope(answered.status, now)},${fields}}`,
  }
}

/** Returns the REST answer to a path that does not exist, for processes that serve other interfaces. */
export const restNotFound = (now: Instant) => restRefusal({ status: 404, reason: noSuchRestPath }, now)
