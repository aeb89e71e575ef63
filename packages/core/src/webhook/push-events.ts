import type { Ports } from '../ports.ts'
import type { Instant } from '../time/instant.ts'
import { nextTry, verdictOf } from './push-schedule.ts'
import type { PushAnswer } from './webhook-client.ts'
import type { WebhookEvent } from './webhook-event.ts'
import type { Webhook } from './webhook.ts'
import type { ClaimedList, PushResult } from './webhooks.ts'

export interface PushSettings {
  /** At most so many requests are under way at a time, of this process. */
  readonly requestsMax: number
  /** And of one endpoint, of all processes. */
  readonly perWebhookMax: number
  /** After so long a list is pushed by another process; longer than a request and the storing of its result can take. */
  readonly leaseSeconds: number
}

export const pushDefaults: PushSettings = { requestsMax: 50, perWebhookMax: 5, leaseSeconds: 60 }

export interface PushOptions {
  /** The body of a request at this time. */
  readonly bodyOf: (events: readonly WebhookEvent[], now: Instant) => string
  /** From 0 to 1, by chance. */
  readonly chance: () => number
  /** Results are stored, so that there may be room for more: `work` is to be called. */
  readonly roomAgain: () => void
  /** What failed and is tried again. */
  readonly report: (problem: unknown) => void
  readonly settings?: Partial<PushSettings>
}

export interface PushCounts {
  readonly delivered: number
  readonly failed: number
  /** Events in lists that were delivered. */
  readonly events: number
}

/** Pushes events to endpoints (P-11). Has no timers: its caller looks for work, and stops it. */
export interface EventPusher {
  /** Claims as many lists as there is room for, and begins to push them; 'more': look again at once. Rejects if the store does. */
  work(): Promise<'more' | 'all'>
  /** Requests under way, and results that are not stored. */
  state(): { readonly requests: number; readonly unstored: number }
  /** Since the start. */
  counts(): PushCounts
  /** Claims no more; lets requests end until `deadline` has resolved, stores what came of them, and gives the others back. */
  drain(deadline: Promise<unknown>): Promise<void>
}

type Pushing = Pick<Ports, 'webhooks' | 'webhookClient' | 'secretBox' | 'clock'>

export function createEventPusher(ports: Pushing, options: PushOptions): EventPusher {
  const { webhooks, webhookClient, clock } = ports
  const settings = { ...pushDefaults, ...options.settings }
  const underWay = new Set<Promise<void>>()
  const counts = { delivered: 0, failed: 0, events: 0 }
  let results: PushResult[] = []
  let untried: ClaimedList[] = []
  let storing: Promise<void> | undefined
  let closed = false

  /** One call at a time: while it commits, the next results gather. What failed is stored by the next call. */
  async function store(): Promise<void> {
    while (results.length + untried.length > 0) {
      const [told, back] = [results, untried]
      results = []
      untried = []
      try {
        await Promise.all([webhooks.record(told), webhooks.release(back)])
      } catch (problem) {
        results.unshift(...told)
        untried.unshift(...back)
        throw problem
      }
    }
  }

  function stored(): Promise<void> {
    storing ??= store().finally(() => (storing = undefined))
    return storing
  }

  async function push(list: ClaimedList): Promise<void> {
    const now = clock.now()
    const answer = await pushed(list, now)
    if (answer.outcome === 'failed' && answer.failure === 'stopped') untried.push(list)
    else keep(list, answer, clock.now())
    await stored().then(options.roomAgain, options.report)
  }

  async function pushed({ id, webhook, events }: ClaimedList, now: Instant): Promise<PushAnswer> {
    try {
      const secrets = secretsOf(ports, webhook, now)
      const timestamp = Math.floor(now / 1000)
      return await webhookClient.push({ url: webhook.url, id, timestamp, body: options.bodyOf(events, now), secrets })
    } catch (problem) {
      options.report(problem)
      return { outcome: 'failed', failure: 'not-signed', milliseconds: 0 }
    }
  }

  function keep(list: ClaimedList, answer: PushAnswer, now: Instant): void {
    const verdict = verdictFor(list, answer)
    counts[verdict === 'delivered' ? 'delivered' : 'failed']++
    if (verdict === 'delivered') counts.events += list.events.length
    const next = verdict === 'retry' ? nextTry(list.tries, answer, now, options.chance()) : undefined
    results.push({ list: list.id, tries: list.tries, at: now, answer, verdict, next })
  }

  async function work(): Promise<'more' | 'all'> {
    if (results.length + untried.length > 0) await stored()
    const room = settings.requestsMax - underWay.size
    if (closed || room <= 0) return 'all'
    const lists = await webhooks.claim({ ...settings, listsMax: room })
    for (const list of lists) begin(list)
    return lists.length > 0 ? 'more' : 'all'
  }

  function begin(list: ClaimedList): void {
    const pushing = push(list).finally(() => underWay.delete(pushing))
    underWay.add(pushing)
  }

  return {
    work,
    state: () => ({ requests: underWay.size, unstored: results.length + untried.length }),
    counts: () => ({ ...counts }),
    drain: async (deadline) => {
      closed = true
      await webhookClient.close(deadline)
      await Promise.race([Promise.all(underWay), deadline])
      await stored()
    },
  }
}

/** A test is tried once: who asked for it looks at what came of it. */
function verdictFor({ tries, events }: ClaimedList, answer: PushAnswer): PushResult['verdict'] {
  const verdict = verdictOf(answer, tries)
  return verdict === 'retry' && events[0]?.data.type === 'test' ? 'dead' : verdict
}

/** The current one first; the one before it while it is valid. */
function secretsOf({ secretBox }: Pick<Ports, 'secretBox'>, webhook: Webhook, now: Instant): readonly string[] {
  const { secret, previous } = webhook
  const all = previous !== undefined && now < previous.until ? [secret, previous.secret] : [secret]
  return all.map((sealed) => secretBox.open(sealed))
}
