import type { Instant, Replay, WebhookEventId, WebhookId } from '@gateway/core'
import { readFrom, readTo, readWebhookId } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { counted } from '../show.ts'
import { noSuchWebhook } from '../webhook-words.ts'

interface Options {
  readonly event?: string
  readonly from?: Instant
  readonly to?: Instant
  readonly dead?: boolean
}

const period = 'a day (GMT+2), a time CCYYMMDDHHmm, or days ago (7d)'

export const webhookReplay = (run: Run) =>
  command(
    'replay',
    'push events of the last 30 days again, under their ids: one, those of a period, or all dead lists',
    'gateway webhook replay 1 --from 2026-10-18 --to 2026-10-19',
  )
    .argument('<id>', "the webhook's id", readWebhookId)
    .option('--event <id>', 'this event')
    .option('--from <time>', `what happened from then on: ${period}; with --to`, readFrom)
    .option('--to <time>', 'up to the end of that day, or before that time; with --from', readTo)
    .option('--dead', 'all lists whose tries are exhausted')
    .action((id: WebhookId, options: Options) => {
      const replay = wanted(options)
      return run(async ({ backOffice, output }) => {
        const events = await output.during('Replaying', backOffice.replayEvents(id, replay))
        if (events === 'no-such-webhook') throw noSuchWebhook(id)
        if (events === 'empty-period') throw new Refused('The period ends before it begins.')
        output.result({ id, events }, `${counted(events, 'event')} will be pushed again.`)
      })
    })

function wanted({ event, from, to, dead = false }: Options): Replay {
  const isPeriod = from !== undefined && to !== undefined
  const ways = [event !== undefined, from !== undefined || to !== undefined, dead].filter(Boolean).length
  if (ways !== 1 || (event === undefined && !dead && !isPeriod))
    throw new Refused('Name one of --event, --from with --to, and --dead.', 2)
  if (event !== undefined) return { what: 'event', event: event as WebhookEventId }
  return isPeriod ? { what: 'period', from, to } : { what: 'dead' }
}
