import { COMMAND_STATUS, type SubmitMulti, type SubmitSm } from '@gateway/smpp'

const absoluteTime = /^(\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d[0-5]\d\d([0-3]\d|4[0-8])[+-]$/
const relativeTime = /^\d{12}000R$/

/**
 * Returns true for an empty time or YYMMDDhhmmsstnnp (SMPP 3.4, 7.1.1): an absolute time with an offset in quarters of
 * an hour, or a relative time.
 */
const isTime = (time: string): boolean => time === '' || isDate(absoluteTime.exec(time)) || relativeTime.test(time)

/** Rejects dates that do not exist, such as 30 February. */
function isDate(match: RegExpExecArray | null): boolean {
  if (match === null) return false
  const [year, month, day] = match.slice(1, 4).map(Number) as [number, number, number]
  return new Date(Date.UTC(2000 + year, month - 1, day)).getUTCDate() === day
}

/** Returns true for an address that a real SMSC can route: digits, optionally after a +. */
export const isDestination = (address: string): boolean => /^\+?[0-9]{1,20}$/.test(address)

/** Returns the command_status with which a real SMSC refuses malformed times, or undefined for well-formed times. */
export function timeError(
  pdu: Pick<SubmitSm | SubmitMulti, 'scheduleDeliveryTime' | 'validityPeriod'>,
): number | undefined {
  if (!isTime(pdu.scheduleDeliveryTime)) return COMMAND_STATUS.ESME_RINVSCHED
  return isTime(pdu.validityPeriod) ? undefined : COMMAND_STATUS.ESME_RINVEXPIRY
}
