import { limits } from '../limits.ts'
import type { Ports } from '../ports.ts'
import type { DroppedHistory } from './history.ts'

/** One bounded step of dropping what no status is given for any more: what is older than 90 days (spec 8; ruling 1.16). */
export const dropHistory = (ports: Pick<Ports, 'history'>) => (): Promise<DroppedHistory> =>
  ports.history.drop(limits.statusDays)
