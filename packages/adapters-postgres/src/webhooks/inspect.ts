import type { AccountId } from '@gateway/core/accounts'
import type { Page, Paged } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import {
  testEventId,
  webhookConditions,
  eventIdsOf,
  type PushAnswer,
  type PushAttempt,
  type WebhookId,
  type Webhooks,
} from '@gateway/core/webhooks'
import type { Context } from '../context.ts'
import { inSlices } from '../in-slices.ts'
import { addTestList, backlogOf, listAttempts, webhookTotals } from '../sql/inspect-webhooks.ts'
import type { RowOf } from '../sql/statement.ts'
import { EVENT_CODE, verdicts } from '../stored-codes.ts'
import { listIdOf } from './push-lists.ts'
import { groupsOf, isReadable, storedEventsOf } from './stored-events.ts'

export function inspectWebhooks(
  { pools: { ordinary } }: Context,
  { find }: Pick<Webhooks, 'find'>,
): Pick<Webhooks, 'addTest' | 'attempts' | 'backlog' | 'totals'> {
  async function addTest(account: AccountId | undefined, id: WebhookId, now: Instant) {
    if ((await find(account, id)) === undefined) return undefined
    const [row] = await ordinary.run(addTestList, { webhook: id, at: now, type: EVENT_CODE.test })
    if (row === undefined) throw new Error('storing a test event returned no number')
    return testEventId(row.number)
  }

  async function attempts(account: AccountId | undefined, id: WebhookId, { offset, limit }: Page) {
    if ((await find(account, id)) === undefined) return undefined
    const rows = await ordinary.run(listAttempts, { webhook: id, offset, limit })
    const tried = rows.filter((row) => row.list !== null)
    const items = await inSlices(tried, attemptOf)
    return { total: rows[0]?.total ?? 0, items } satisfies Paged<PushAttempt>
  }

  return {
    addTest,
    attempts,
    backlog: async (id) => {
      const [row] = await ordinary.run(backlogOf, { webhook: id })
      return row ?? { events: 0, lists: 0, dead: 0 }
    },
    totals: async (rowsMax) => {
      const rows = await ordinary.run(webhookTotals, { rowsMax })
      const none = { endpoints: 0, events: 0, lists: 0, dead: 0, oldest: null }
      return webhookConditions.map((condition) => {
        const { oldest, ...counts } = rows.find((row) => row.condition === condition) ?? { ...none, condition }
        return { ...counts, oldest: oldest ?? undefined }
      })
    },
  }
}

type AttemptRow = Exclude<RowOf<typeof listAttempts>, { readonly list: null }>

function attemptOf(row: AttemptRow): PushAttempt {
  const { list, tries, at, next, verdict, events } = row
  return {
    list: listIdOf(list),
    tries,
    at,
    answer: answerOf(row),
    verdict: verdicts.get(verdict) ?? 'dead',
    next: next ?? undefined,
    events: eventIdsOf({ groups: groupsOf(storedEventsOf(events).filter(isReadable)) }),
  }
}

function answerOf({ status, failure, retry_after, beginning, milliseconds }: AttemptRow): PushAnswer {
  if (failure !== null) return { outcome: 'failed', failure, milliseconds }
  if (status === null) throw new Error('an attempt has neither a status nor a failure')
  return {
    outcome: 'answered',
    status,
    retryAfterSeconds: retry_after ?? undefined,
    beginning: beginning ?? '',
    milliseconds,
  }
}
