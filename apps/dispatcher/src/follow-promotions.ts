import type { Promotion, Promotions } from '@gateway/core/dispatch'
import { repeat, type Log } from '@gateway/server'

export interface FollowedPromotions {
  /** Returns lines for the readiness report: since when messages are in doubt, and why. */
  notes(): readonly string[]
  /** Returns the number of messages in doubt at the last poll. */
  inDoubt(): number
  stop(): Promise<void>
}

/** Milliseconds between two polls while messages are in doubt, and while none are. */
const pollMilliseconds = { inDoubt: 2000, quiet: 10_000 }

const countOf = (promotions: readonly Promotion[]): number => promotions.reduce((sum, { inDoubt }) => sum + inDoubt, 0)

/** Polls for messages in doubt after a promotion, and logs the start and end of the doubt. */
export function followPromotions({
  promotions,
  log,
}: {
  readonly promotions: Pick<Promotions, 'open'>
  readonly log: Log
}): FollowedPromotions {
  let open: readonly Promotion[] = []
  const looking = repeat({
    name: 'look for messages in doubt',
    pauseMilliseconds: () => (open.length > 0 ? pollMilliseconds.inDoubt : pollMilliseconds.quiet),
    log,
    work: async () => {
      const before = open
      open = await promotions.open()
      const known = new Set(before.map(({ id }) => id))
      for (const { id, inDoubt, lastChange, noticed, timeline } of open) {
        if (known.has(id)) continue
        const since = { lastChange: lastChange && new Date(lastChange), noticed: new Date(noticed) }
        log.error({ inDoubt, timeline, ...since }, inDoubtText)
      }
      if (open.length === 0 && before.length > 0) log.warn('no messages are in doubt any more')
      return 'all'
    },
  })
  return {
    notes: () =>
      open.map(
        ({ inDoubt, noticed }) =>
          `messages in doubt: ${inDoubt}, held since ${new Date(noticed).toISOString()}: ${inDoubtText}`,
      ),
    inDoubt: () => countOf(open),
    stop: () => looking.stop(),
  }
}

const inDoubtText =
  'a database standby was promoted that may lack the last changes of the lost server, so messages that wait here may ' +
  'already have been submitted; see gateway failover status'
