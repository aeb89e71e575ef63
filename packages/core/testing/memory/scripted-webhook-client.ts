import type { PushAnswer, PushRequest, UrlRefusal, WebhookClient } from '@gateway/core/webhooks'

/**
 * Outcome of a push. A number is the HTTP status of an answer without a text. 'held': not answered until the test
 * releases it.
 */
export type ScriptedPush = number | PushAnswer | 'held'

export interface ScriptedWebhookClient extends WebhookClient {
  /** All pushes in order. */
  readonly pushed: readonly PushRequest[]
  /** Maximum number of unanswered pushes so far. */
  readonly unansweredMost: number
  /** Sets the outcome of later pushes. Default: 204. */
  answerWith(answerOf: (request: PushRequest) => ScriptedPush): void
  /** Makes the client refuse these addresses. */
  refuse(refusalOf: (url: string) => UrlRefusal | undefined): void
  /** Answers all held pushes. */
  release(answer: Exclude<ScriptedPush, 'held'>): void
}

const answered = (status: number): PushAnswer => ({
  outcome: 'answered',
  status,
  retryAfterSeconds: undefined,
  beginning: '',
  milliseconds: 1,
})

/** A client without a network, controlled by a test. It only checks that an address is a URL with https. */
export function scriptedWebhookClient(): ScriptedWebhookClient {
  const pushed: PushRequest[] = []
  const heldPushes = new Set<(answer: PushAnswer) => void>()
  let answerOf = (_request: PushRequest): ScriptedPush => 204
  let refusalOf = (url: string): UrlRefusal | undefined => {
    if (!URL.canParse(url)) return 'not-a-url'
    return new URL(url).protocol === 'https:' ? undefined : 'not-https'
  }
  let unanswered = 0
  let most = 0

  async function push(request: PushRequest): Promise<PushAnswer> {
    pushed.push(request)
    most = Math.max(most, ++unanswered)
    await Promise.resolve()
    const scripted = answerOf(request)
    const answer =
      scripted === 'held' ? await new Promise<PushAnswer>((resolve) => heldPushes.add(resolve)) : asAnswer(scripted)
    unanswered--
    return answer
  }
  return {
    pushed,
    get unansweredMost() {
      return most
    },
    answerWith: (next) => void (answerOf = next),
    refuse: (next) => void (refusalOf = next),
    release: (answer) => {
      for (const resolve of heldPushes) resolve(asAnswer(answer))
      heldPushes.clear()
    },
    refusalOf: (url) => refusalOf(url),
    push,
    close: async (deadline) => {
      if (heldPushes.size === 0) return
      await deadline
      for (const resolve of heldPushes) resolve({ outcome: 'failed', failure: 'stopped', milliseconds: 1 })
      heldPushes.clear()
    },
  }
}

const asAnswer = (scripted: Exclude<ScriptedPush, 'held'>): PushAnswer =>
  typeof scripted === 'number' ? answered(scripted) : scripted
