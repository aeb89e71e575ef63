import type { Processing } from '@gateway/core'
import type { Log } from '@gateway/server'
import { repeat, type Repeated } from './repeat.ts'

const pauseMilliseconds = 600_000

/** Drops what is older than 90 days, and looks again every ten minutes. Steps that follow each other are told as one. */
export function startDroppingHistory(processing: Pick<Processing, 'purge'>, log: Log): Repeated {
  let dropped = { partitions: 0, sends: 0, messages: 0 }
  return repeat({
    what: 'drop history',
    pauseMilliseconds,
    log,
    work: async () => {
      const { partitions, sends, messages, left } = await processing.purge()
      dropped = {
        partitions: dropped.partitions + partitions,
        sends: dropped.sends + sends,
        messages: dropped.messages + messages,
      }
      if (left === 'more') return 'more'
      if (dropped.partitions + dropped.sends > 0) log.info(dropped, 'dropped the history of more than 90 days ago')
      dropped = { partitions: 0, sends: 0, messages: 0 }
      return 'all'
    },
  })
}
