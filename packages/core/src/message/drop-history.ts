import { limits } from '../limits.ts'
import type { Ports } from '../ports.ts'
import type { DroppedHistory } from './history.ts'

/** For so long it is remembered who wrote last to a number, unless the operator sets another time (ruling 1.18): two years. */
export const contactDaysDefault = 730

/** One bounded step of dropping what no status is given for any more: what is older than 90 days (spec 8; ruling 1.16). */
export const dropHistory =
  (ports: Pick<Ports, 'history'>, contactDays = contactDaysDefault) =>
  (): Promise<DroppedHistory> =>
    ports.history.drop(limits.statusDays, contactDays)
