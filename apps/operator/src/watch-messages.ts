import { setTimeout as pause } from 'node:timers/promises'
import { hasOutcome, isFinal, OUTCOME, type Account, type MessageId, type MessageStatus } from '@gateway/core'
import type { Context } from './context.ts'
import { outcomeMeaning, outcomeStatus } from './outcome-words.ts'
import type { Json } from './output.ts'
import { timeJson } from './show.ts'

const pollMilliseconds = 250
const idsMax = 1000

/** As the interfaces say it; but what waits is not called unknown. */
function statusOf(status: MessageStatus): { readonly status: string; readonly code: number; readonly meaning: string } {
  if (status === 'not-found') return { status: 'NOTFOUND', code: -2, meaning: 'no such message' }
  if (status.code === 'waiting') return { status: 'WAITING', code: -1, meaning: 'not handed to a carrier yet' }
  return { status: outcomeStatus(status.code), code: status.code, meaning: outcomeMeaning(status.code) }
}

const wordOf = (message: MessageStatus): string => {
  const { status, code, meaning } = statusOf(message)
  return `${status} ${code} (${meaning})`
}

export interface Watched {
  /** There is nothing to wait for any more. */
  readonly allOver: boolean
  /** Messages of unknown outcome (106): a receipt that comes late may still change them. */
  readonly unknown: number
  /** Of all messages, but of those only that were looked at, where the user ended it. */
  readonly statuses: readonly Json[]
  /** How many messages ended in which state. */
  readonly text: string
}

/**
 * Shows each change of state as it is seen, until every message is final or of unknown outcome (106), which mostly stays so, the time
 * is over or the user ends it.
 */
export async function watchMessages(
  { gateway, output, interruption }: Pick<Context, 'gateway' | 'output' | 'interruption'>,
  account: Account,
  ids: readonly MessageId[],
  timeoutSeconds: number,
): Promise<Watched> {
  const end = performance.now() + timeoutSeconds * 1000
  const seen = new Map<MessageId, MessageStatus>()
  let open = ids
  while (!interruption.aborted) {
    for (let at = 0; at < open.length; at += idsMax) {
      const some = open.slice(at, at + idsMax)
      const statuses = await gateway.queryStatus(account, some).catch((problem: unknown) => {
        if (interruption.aborted) return undefined
        throw problem
      })
      if (statuses === undefined) break
      some.forEach((id, nth) => {
        const status = statuses[nth] ?? 'not-found'
        const before = seen.get(id)
        if (before === undefined || wordOf(before) !== wordOf(status)) output.line(`message ${id}: ${wordOf(status)}`)
        seen.set(id, status)
      })
    }
    open = open.filter((id) => !isOver(seen.get(id)))
    if (open.length === 0 || performance.now() >= end) break
    output.progress(`${ids.length - open.length} of ${ids.length} messages have ended`)
    await pause(pollMilliseconds, undefined, { signal: interruption }).catch(() => undefined)
  }
  return {
    allOver: open.length === 0,
    unknown: [...seen.values()].filter(isUnknown).length,
    statuses: ids.flatMap((id) => {
      const status = seen.get(id)
      return status === undefined ? [] : [statusJson(id, status)]
    }),
    text: summary(seen),
  }
}

const isOver = (status: MessageStatus | undefined): boolean =>
  status === 'not-found' || (status !== undefined && hasOutcome(status) && (isFinal(status.code) || isUnknown(status)))

const isUnknown = (status: MessageStatus): boolean => typeof status === 'object' && status.code === OUTCOME.unknown

const statusJson = (id: MessageId, message: MessageStatus): Json => {
  const { status, code, meaning } = statusOf(message)
  const [at, final] = hasOutcome(message) ? [message.at, isFinal(message.code)] : [undefined, false]
  return { message: id, status, statusCode: code, meaning, final, since: timeJson(at) }
}

function summary(seen: ReadonlyMap<MessageId, MessageStatus>): string {
  const counts = new Map<string, number>()
  for (const status of seen.values()) counts.set(wordOf(status), (counts.get(wordOf(status)) ?? 0) + 1)
  return [...counts].map(([word, count]) => `${count} ${word}`).join('; ')
}
