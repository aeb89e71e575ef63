import type { Msisdn } from '../messages/msisdn.ts'

/**
 * Returns a number without the digits that identify its owner, because the log does not change when a number is erased.
 */
export const withoutSomeDigits = (number: Msisdn): string => `${number.slice(0, 5)}…${number.slice(-2)}`

/** Returns a URL without user information, query values and fragment, which may contain secrets. */
export const withoutSecrets = (url: string): string =>
  url.replace(
    /^([a-z]+:\/\/)(?:[^/?#]*@)?([^?#]*)(\?[^#]*)?.*$/i,
    (_, scheme: string, rest: string, query?: string) => `${scheme}${rest}${query === undefined ? '' : '?…'}`,
  )
