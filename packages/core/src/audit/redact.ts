import type { Msisdn } from '../messages/msisdn.ts'

/**
 * Returns a phone number without the digits that identify its owner. Entries of the log never change, so the full
 * number could not be erased from them.
 */
export const withoutSomeDigits = (number: Msisdn): string => `${number.slice(0, 5)}…${number.slice(-2)}`

/** Returns a URL without user information, query values and fragment, which may contain secrets. */
export const withoutSecrets = (url: string): string =>
  url.replace(
    /^([a-z]+:\/\/)(?:[^/?#]*@)?([^?#]*)(\?[^#]*)?.*$/i,
    (_, scheme: string, rest: string, query?: string) => `${scheme}${rest}${query === undefined ? '' : '?…'}`,
  )
