import type { PushAnswer, WebhookClient } from '@gateway/core/webhooks'
import { repeat, version, type Log, type Repeated } from '@gateway/server'

interface HeartbeatSettings {
  /** URL of a monitor that raises an alarm when it is no longer called. It may contain a secret. */
  readonly url: string
  /** Resolves to the reason why the process is not ready, or to undefined if it is ready. */
  readonly unreadyReason: () => Promise<string | undefined>
  readonly client: Pick<WebhookClient, 'push'>
  readonly clock: { now(): number }
  readonly log: Log
  readonly pauseMilliseconds?: number
}

const minuteMilliseconds = 60_000

/**
 * Calls the URL at once and then every minute while the process is ready. A call ends within 15 seconds and is not
 * repeated. Logs the first of several failures, and the next success, without the URL.
 */
export function callHeartbeat(settings: HeartbeatSettings): Repeated {
  const { url, unreadyReason, client, clock, log, pauseMilliseconds = minuteMilliseconds } = settings
  let hasFailed = false

  async function call(): Promise<void> {
    if ((await unreadyReason()) !== undefined) return
    const timestamp = Math.floor(clock.now() / 1000)
    const body = JSON.stringify({ ready: true, version })
    const answer = await client.push({ url, id: `heartbeat-${timestamp}`, timestamp, body, secrets: [] })
    const failure = failureOf(answer)
    if (failure === 'stopped') return
    if (failure !== undefined && !hasFailed) log.warn({ failure }, 'the heartbeat was not accepted')
    if (failure === undefined && hasFailed) log.warn('the heartbeat is accepted again')
    hasFailed = failure !== undefined
  }

  return repeat({
    name: 'heartbeat',
    pauseMilliseconds,
    log,
    work: async () => {
      await call()
      return 'all'
    },
  })
}

/** Returns why a request was not accepted: a word, or its status. Returns undefined for a status of 2xx. */
export function failureOf(answer: PushAnswer): string | undefined {
  if (answer.outcome === 'failed') return answer.failure
  return answer.status >= 200 && answer.status < 300 ? undefined : `HTTP ${answer.status}`
}
