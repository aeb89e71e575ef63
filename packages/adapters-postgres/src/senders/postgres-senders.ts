import type { Senders } from '@gateway/core'
import type { Context } from '../context.ts'

export function postgresSenders(context: Context): Senders {
  const fail = (): never => {
    throw new Error(`no senders are known yet (${context.settings.cacheSeconds})`)
  }
  return { choose: fail, assign: fail, release: fail, assigned: fail }
}
