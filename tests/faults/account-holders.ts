import { setTimeout as delay } from 'node:timers/promises'
import type { Chance } from '@gateway/core/testing'
import type { Database } from './database.ts'
import type { Figures } from './figures.ts'
import type { AccountUnderTest } from './load.ts'
import type { Member } from './processes.ts'
import type { Received, Receiver } from './receiver.ts'

export interface Holding {
  readonly chance: Chance
  readonly figures: Figures
  readonly database: Database
  readonly members: readonly Member[]
  readonly accounts: readonly AccountUnderTest[]
  readonly receiver: Receiver
  /** End of the load, by performance.now(). */
  readonly end: number
}

interface Own extends Holding {
  readonly endpoint: Received
  /** Sends a request to a REST process as the account holder. Returns undefined if no response arrived. */
  readonly ask: <Answer>(method: string, path: string, body?: object) => Promise<Answer | undefined>
}

/**
 * Rotates secrets, replays, pauses, resumes and re-enables endpoints as their holders until the end. All endpoints are
 * active at the end.
 */
export async function manageWebhooks(holding: Holding): Promise<void> {
  const { accounts, receiver } = holding
  await Promise.all(
    receiver.received().map((endpoint) => {
      const key = accounts.find(({ id }) => id === endpoint.account)?.key ?? ''
      return manage({ ...holding, endpoint, ask: asking(holding, key, endpoint.webhook) })
    }),
  )
}

async function manage(own: Own): Promise<void> {
  const { chance, receiver, endpoint, end } = own
  const deeds = [rotate, replayOne, pause, replayAll, rotate, replayOne]
  for (let done = 0; performance.now() < end; done++) {
    await delay(chance.between(500, 2500))
    if (receiver.gone(endpoint.account) !== undefined) await bringBack(own)
    else await deeds[done % deeds.length]?.(own)
  }
  receiver.stays(endpoint.account)
  if (receiver.gone(endpoint.account) !== undefined) await bringBack(own)
}

async function rotate({ figures, receiver, endpoint, ask }: Own): Promise<void> {
  const rotated = receiver.rotates(endpoint.account)
  const answer = await ask<{ secret: string }>('POST', '/rotate', {})
  if (answer !== undefined) rotated(answer.secret)
  figures.count(`webhooks: rotated${answer === undefined ? ' perhaps' : ''}`)
}

async function replayOne(own: Own): Promise<void> {
  const { chance, figures, receiver, endpoint } = own
  const received = [...endpoint.acknowledged]
  if (received.length === 0) return
  const event = chance.one(received)
  const replayed = receiver.replays(endpoint.account, event)
  const task = await replay(own, { event })
  if (task === undefined) return
  replayed()
  if (task.eventsReplayed !== 1)
    figures.broken('P-11', `${task.eventsReplayed} events ${event} of account ${endpoint.account} were replayed`)
}

/** Replays all events of the previous minute. There may be no such events. */
async function replayAll(own: Own): Promise<void> {
  const { figures, receiver, endpoint } = own
  const answered = receiver.replays(endpoint.account, undefined)
  const [from, to] = [minute(-1), minute(0)]
  const task = await replay(own, { from, to })
  if (task === undefined) return
  answered()
  figures.count('webhooks: times replayed')
  figures.count('events replayed with those of their time', task.eventsReplayed)
}

interface Task {
  readonly id: number
  readonly state: string
  readonly eventsReplayed: number
}

/** Starts a replay and waits until it has ended. Returns undefined if no response confirmed the start. */
async function replay({ ask, end }: Own, window: object): Promise<Task | undefined> {
  let task = (await ask<{ replay: Task }>('POST', '/replay', window))?.replay
  const begun = task
  // If the answer to the start was lost, the replay may be running. It blocks the next replay, so wait until it has
  // ended.
  while (begun === undefined || task?.state === 'running') {
    await delay(200)
    const shown = (await ask<{ replay: Task }>('GET', '/replay'))?.replay
    task = shown ?? task
    if (begun === undefined && (shown === undefined || shown.state !== 'running')) return undefined
    if (performance.now() > end + 30_000) return undefined
  }
  return task
}

/** Returns a REST time this many minutes from now. */
const minute = (minutes: number): string =>
  new Date(Date.now() + minutes * 60_000 + 7_200_000).toISOString().replace(/\D/g, '').slice(0, 12)

/** Pauses an endpoint, longer than a pause takes to become effective, and resumes it. */
async function pause({ chance, figures, receiver, endpoint, ask }: Own): Promise<void> {
  const answer = await ask('PATCH', '', { state: 'paused' })
  const resumes = answer === undefined ? undefined : receiver.paused(endpoint.account)
  await delay(chance.between(5500, 8000))
  resumes?.()
  while ((await ask('PATCH', '', { state: 'active' })) === undefined) await delay(300)
  figures.count('webhooks: paused and resumed')
}

/** Resumes a disabled endpoint. Repeats this until no pending answer 410 can disable the endpoint again. */
async function bringBack({ figures, database, receiver, endpoint, ask }: Own): Promise<void> {
  for (let wasDisabled = false; ;) {
    const isSettled = await settled(database, receiver.gone(endpoint.account) ?? new Map())
    const shown = await ask<{ webhook: { state: string } }>('GET', '')
    if (shown?.webhook.state === 'disabled') {
      if (!wasDisabled) figures.count('webhooks: resumed when gone')
      wasDisabled = true
      // This answer may be lost. The next GET shows whether the endpoint is active.
      await ask('PATCH', '', { state: 'active' })
    } else if (shown !== undefined && isSettled) {
      receiver.isBack(endpoint.account)
      return
    }
    await delay(300)
  }
}

/** Duration of the lease of a list, and a duration longer than any pause of a process with a lease. */
const [leaseSeconds, pausedSeconds] = [30, 45]

/**
 * Returns true if no answer 410 can be stored any more: each list is free, claimed again, or was answered too long ago.
 */
async function settled(database: Database, gone: ReadonlyMap<string, number>): Promise<boolean> {
  for (const [list, answered] of gone) {
    if (Date.now() - answered > pausedSeconds * 1000) continue
    const rows = await database.ask(
      `select from webhook_list where state = 0 and id = ${list.slice('list-'.length)} and leased
        and due_at - interval '${leaseSeconds} s' <= to_timestamp(${answered} / 1000.0)`,
    )
    if (rows.length > 0) return false
  }
  return true
}

const asking = ({ chance, figures, members }: Holding, key: string, webhook: number) => {
  const processes = members.filter(({ app }) => app === 'rest')
  return async <Answer>(method: string, path: string, body?: object): Promise<Answer | undefined> => {
    const url = chance.one(processes).url()
    if (url === undefined) return undefined
    try {
      const answer = await fetch(`${url}/api/rest/v1/webhooks/${webhook}${path}`, {
        method,
        headers: { Authorization: key, 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      })
      const text = await answer.text()
      if (answer.status === 200) return JSON.parse(text) as Answer
      // The gateway answers 404 if there was no replay, and 409 if another replay is running.
      if (path === '/replay' && [404, 409].includes(answer.status)) return undefined
      if (answer.status !== 503) figures.broken('P-14', `${method} of a webhook was answered ${answer.status}: ${text}`)
    } catch {
      // The process was killed, or was paused for longer than the timeout of the request.
    }
    return undefined
  }
}
