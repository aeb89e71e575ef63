import { COMMAND_STATUS, type SubmitMulti, type SubmitSm } from '@gateway/adapters-smpp/pdu'

const absoluteTime = /^(\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d[0-5]\d\d([0-3]\d|4[0-8])[+-]$/
const relativeTime = /^\d{12}000R$/

/** Left out, or YYMMDDhhmmsstnnp: absolute with an offset in quarters of an hour, or relative (SMPP 3.4, 7.1.1). */
const isTime = (time: string): boolean => time === '' || isDate(absoluteTime.exec(time)) || relativeTime.test(time)

/** 30 February is no date. */
function isDate(match: RegExpExecArray | null): boolean {
  if (match === null) return false
  const [year, month, day] = match.slice(1, 4).map(Number) as [number, number, number]
  return new Date(Date.UTC(2000 + year, month - 1, day)).getUTCDate() === day
}

/** Digits, perhaps behind a +: what a real SMSC routes by. */
export const isDestination = (address: string): boolean => /^\+?[0-9]{1,20}$/.test(address)

/** The command_status of a submission whose times a real SMSC refuses; undefined: they are well formed. */
export function timeError(
  pdu: Pick<SubmitSm | SubmitMulti, 'scheduleDeliveryTime' | 'validityPeriod'>,
): number | undefined {
  if (!isTime(pdu.scheduleDeliveryTime)) return COMMAND_STATUS.ESME_RINVSCHED
  return isTime(pdu.validityPeriod) ? undefined : COMMAND_STATUS.ESME_RINVEXPIRY
}
