import { COMMAND_STATUS, type CommandStatusName } from '../pdu/index.ts'

/**
 * What an error of a carrier means for the message. `final`: it will never take it. `for-now`: later it may. `throttle`: it gets too much; the
 * message goes again and the connection slows down. `link`: the connection is not what it should be; the message goes over a new one.
 */
export type ErrorClass = 'final' | 'for-now' | 'throttle' | 'link'

export const errorClasses: readonly ErrorClass[] = ['final', 'for-now', 'throttle', 'link']

/** Errors that are not final (SMPP 3.4, 5.1.3). All others are, and a carrier's own too, unless its operator says otherwise. */
const CLASSES: Partial<Record<CommandStatusName, ErrorClass>> = {
  ESME_RINVBNDSTS: 'link',
  ESME_RALYBND: 'link',
  ESME_RSYSERR: 'for-now',
  ESME_RBINDFAIL: 'link',
  ESME_RINVPASWD: 'link',
  ESME_RINVSYSID: 'link',
  ESME_RMSGQFUL: 'throttle',
  ESME_RINVSYSTYP: 'link',
  ESME_RTHROTTLED: 'throttle',
  ESME_RX_T_APPN: 'for-now',
}

const byStatus = new Map(
  Object.entries(CLASSES).map(([name, is]) => [COMMAND_STATUS[name as CommandStatusName] as number, is]),
)

/** The class of a command_status that is not 0. */
export const errorClassOf = (status: number, overrides: ReadonlyMap<number, ErrorClass>): ErrorClass =>
  overrides.get(status) ?? byStatus.get(status) ?? 'final'
