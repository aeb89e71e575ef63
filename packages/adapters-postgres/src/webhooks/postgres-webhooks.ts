import type { Webhooks } from '@gateway/core'
import type { Context } from '../context.ts'
import { configureWebhooks } from './configure.ts'

/** Endpoints and what is pushed to them, on Postgres. */
export function postgresWebhooks(context: Context): Webhooks {
  const later = (): never => {
    throw new Error('not there yet')
  }
  return {
    ...configureWebhooks(context),
    addTest: () => Promise.resolve(undefined),
    replay: () => Promise.resolve(undefined),
    attempts: () => Promise.resolve(undefined),
    backlog: later,
    claim: later,
    record: later,
    release: later,
    purge: later,
  }
}
