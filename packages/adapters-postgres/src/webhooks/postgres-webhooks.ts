import type { Webhooks } from '@gateway/core'
import type { Context } from '../context.ts'
import { configureWebhooks } from './configure.ts'
import { inspectWebhooks } from './inspect.ts'
import { pushLists } from './push-lists.ts'
import { replays } from './replays.ts'

/** Endpoints and what is pushed to them, on Postgres. */
export function postgresWebhooks(context: Context): Webhooks {
  const configured = configureWebhooks(context)
  return {
    ...configured,
    ...inspectWebhooks(context, configured),
    ...replays(context, configured),
    ...pushLists(context),
  }
}
