import type { PartRequest, RequestResult, RequestWindow, Transport as KitTransport } from '@gateway/carrier-kit'
import type { Submission } from '@gateway/core/dispatch'
import { defaultSenders } from '@gateway/core/messages'
import type { ProviderAccount } from '../account.ts'
import { buildRequest, type HttpRequest, type HttpSubmission } from '../requests/build-request.ts'
import { buildMaskedRequest } from '../requests/mask-secrets.ts'
import type { Callbacks } from '../settings.ts'
import type { Exchange, Transport } from '../transport/exchange.ts'
import { ownIdTextOf } from './own-ids.ts'
import { requestResult } from './request-result.ts'
import { hiddenText, type HttpTraffic, type ShownRequest } from './traffic.ts'

/** Message on its way to a provider. A repetition sends the same bytes. */
export interface HttpPart {
  readonly ownId: string
  first: { readonly at: number; readonly request: HttpRequest } | undefined
}

export interface HttpTransportSettings {
  readonly account: ProviderAccount
  readonly connections: Transport
  readonly window: RequestWindow
  /** If undefined, no callbacks are requested. */
  readonly callbacks: Callbacks | undefined
  readonly traffic: HttpTraffic
  readonly clock: { now(): number }
  /** Called with the milliseconds from a request to its complete answer. */
  readonly answered: (milliseconds: number) => void
  /** Called with the reason of an outcome that is unknown. */
  readonly note: (reason: string) => void
}

/** Rounds down to whole seconds, which requests need, but to at least one second. */
const wholeSeconds = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : Math.max(1, Math.floor(seconds))

/** Sends each message as one request. The provider splits long texts. */
export class HttpTransport implements KitTransport<HttpPart, RequestWindow> {
  readonly #settings: HttpTransportSettings

  constructor(settings: HttpTransportSettings) {
    this.#settings = settings
  }

  channels(): readonly RequestWindow[] {
    return [this.#settings.window]
  }

  partsOf(message: Submission): readonly HttpPart[] {
    return [{ ownId: ownIdTextOf(message), first: undefined }]
  }

  isConnected(): boolean {
    return true
  }

  isSlow(now: number): boolean {
    return this.#settings.window.isSlow(now)
  }

  send(over: RequestWindow, part: PartRequest<HttpPart>, settle: (result: RequestResult) => void): 'sent' {
    const { account, connections, callbacks, traffic } = this.#settings
    const sentAt = performance.now()
    const submission = submissionOf(part, callbacks?.url)
    const { at, request } = (part.segment.first ??= { at: sentAt, request: buildRequest(account, submission) })
    const shown = traffic.sent(() => this.#shown({ ...submission, callback: callbacks?.masked }))
    const end = over.begin(sentAt)
    void connections.exchange(request).then((exchange) => {
      const now = performance.now()
      end(now, ends[exchange.outcome])
      if (exchange.outcome === 'answered') this.#settings.answered(now - sentAt)
      shown(exchange)
      const { clock, note } = this.#settings
      const sent = { account, ownId: part.segment.ownId, text: submission.body.text, age: now - at }
      settle(requestResult(exchange, { ...sent, now: clock.now(), note }))
    })
    return 'sent'
  }

  #shown(submission: HttpSubmission): ShownRequest {
    const { body, to } = submission
    const hidden = { ...body, text: hiddenText(body.text) }
    return {
      ...{ to, text: body.text },
      withText: buildMaskedRequest(this.#settings.account, submission),
      withoutText: buildMaskedRequest(this.#settings.account, { ...submission, body: hidden }),
    }
  }
}

const ends = { answered: 'answered', unknown: 'given-up', unsent: 'unsent' } as const satisfies Record<
  Exchange['outcome'],
  string
>

function submissionOf(
  { message, segment, validSeconds }: PartRequest<HttpPart>,
  callback: string | undefined,
): HttpSubmission {
  const { to, body, options } = message
  // `defaultSenders` are the addresses of a pool that nobody configured. They belong to nobody, so they are not passed
  // to the provider.
  const isNobody = message.from !== undefined && defaultSenders.includes(message.from)
  const from = isNobody ? undefined : message.from
  const { flash, priority, category } = options ?? {}
  return {
    ...{ to, from, body, ownId: segment.ownId, callback, flash, priority, category },
    validSeconds: wholeSeconds(validSeconds),
  }
}
