import { setTimeout } from 'node:timers/promises'
import type { BackOffice } from '@gateway/core'
import type { Instant } from '@gateway/core/time'
import type { Replay, ReplayTask, WebhookEventId, WebhookId } from '@gateway/core/webhooks'
import { readEventId, readFrom, readTo, readWebhookId, type Moment } from '../arguments.ts'
import { command, Refused, type Run } from '../command.ts'
import type { Output } from '../output.ts'
import { noSuchWebhook, replayJson, replayText } from '../webhook-words.ts'

interface Options {
  readonly event?: WebhookEventId
  readonly from?: Moment
  readonly to?: Moment
  readonly dead?: boolean
  readonly follow?: boolean
  readonly show?: boolean
  readonly stop?: boolean
}

const period = 'a day (GMT+2), a time CCYYMMDDHHmm, or days ago (7d)'

export const webhookReplay = (run: Run) =>
  command(
    'replay',
    'push events of the last 30 days again with the same ids: one event, the events of a period, or all dead lists; a dispatching process does it',
    'gateway webhook replay 1 --from 2026-10-18 --to 2026-10-19 --follow',
  )
    .argument('<id>', "the webhook's id", readWebhookId)
    .option('--event <id>', 'replay this event', readEventId)
    .option('--from <time>', `events since: ${period}; with --to`, readFrom)
    .option('--to <time>', 'events up to the end of that day, or before that time; with --from', readTo)
    .option('--dead', 'replay all lists whose tries are exhausted')
    .option('--follow', 'wait until the replay has ended; also with --show')
    .option('--show', 'show the progress of the latest replay')
    .option('--stop', 'stop the latest replay')
    .action((id: WebhookId, options: Options) => {
      const request = requestOf(options)
      return run(async ({ backOffice, ports, output }) => {
        const found =
          request === 'show'
            ? await backOffice.queries.showReplay(id)
            : request === 'stop'
              ? await backOffice.commands.stopReplay(id)
              : begun(await backOffice.commands.startReplay(id, request(ports.clock.now())))
        const task = taskOf(id, found)
        const last = options.follow ? await followed(task, output, () => backOffice.queries.showReplay(id)) : task
        output.result(replayJson(last), replayText(last))
        requireEvent(last)
      })
    })

/** Throws a Refused if a replay of one event has ended without finding the event. */
function requireEvent({ replay, state, events, webhook }: ReplayTask): void {
  if (replay.kind === 'event' && state === 'done' && events === 0)
    throw new Refused(`No list of webhook ${webhook} in the last 30 days has the event ${replay.event}.`)
}

type Started = Awaited<ReturnType<BackOffice['commands']['startReplay']>>

function begun(started: Started): ReplayTask | 'no-such-webhook' {
  if (started === 'no-such-webhook') return started
  if (started === 'empty-period') throw new Refused('The end of the period is before its beginning.')
  if ('started' in started) return started.started
  const { id, webhook } = started.running
  throw new Refused(
    `Replay ${id} of webhook ${webhook} is running, and an account can have only one replay at a time. --stop ends it.`,
  )
}

function taskOf(id: WebhookId, found: ReplayTask | 'no-such-webhook' | 'no-replay'): ReplayTask {
  if (found === 'no-such-webhook') throw noSuchWebhook(id)
  if (found === 'no-replay') throw new Refused(`There was no replay of webhook ${id} in the last 30 days.`)
  return found
}

const pollMilliseconds = 500

/** Waits until the replay has ended or another one has begun. Returns its last state. */
async function followed(
  task: ReplayTask,
  output: Pick<Output, 'progress'>,
  look: () => Promise<ReplayTask | 'no-such-webhook' | 'no-replay'>,
): Promise<ReplayTask> {
  let last = task
  while (last.state === 'running') {
    output.progress(replayText(last))
    await setTimeout(pollMilliseconds)
    const now = taskOf(task.webhook, await look())
    if (now.id !== task.id) return last
    last = now
  }
  output.progress('')
  return last
}

function requestOf(options: Options): ((now: Instant) => Replay) | 'show' | 'stop' {
  const { event, from, to, dead = false, show = false, stop = false } = options
  const isPeriod = from !== undefined && to !== undefined
  const ways = [event !== undefined, from !== undefined || to !== undefined, dead, show, stop].filter(Boolean).length
  if (ways !== 1 || (event === undefined && !dead && !show && !stop && !isPeriod))
    throw new Refused('Use one of --event, --from with --to, --dead, --show and --stop.', 2)
  if (show) return 'show'
  if (stop) return 'stop'
  if (event !== undefined) return () => ({ kind: 'event', event })
  return (now) => (isPeriod ? { kind: 'period', from: from(now), to: to(now) } : { kind: 'dead' })
}
