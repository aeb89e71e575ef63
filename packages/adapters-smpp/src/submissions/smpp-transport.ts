import type { PartRequest, RequestResult, Transport } from '@gateway/carrier-kit'
import type { Submission } from '@gateway/core/dispatch'
import type { Body } from '@gateway/core/messages'
import { commandStatusName } from '@gateway/smpp'
import type { RequestOutcome, Session } from '../session/session.ts'
import { errorClassOf, type SmppSettings } from '../settings.ts'
import { encodeBody, messageReferences, type MessageReferences, type Segment } from '../text/encode-body.ts'
import { buildSubmit } from './build-submit.ts'

/** Access to the links of a carrier for its submissions. */
export interface BoundLinks {
  /** Returns the sessions of bound links. */
  sessions(): readonly Session[]
  /** Returns true while a link that can send is bound. */
  isBound(): boolean
}

/** Sends messages over the sessions of a carrier, with one submit_sm for each part of a text. */
export class SmppTransport implements Transport<Segment, Session> {
  readonly #settings: SmppSettings
  readonly #links: BoundLinks
  readonly #references: MessageReferences
  /** Text that was encoded last, if it is one segment that does not depend on its recipient. */
  #encoded: { readonly body: Body; readonly flash: boolean; readonly segments: readonly Segment[] } | undefined

  constructor(settings: SmppSettings, links: BoundLinks, references = messageReferences()) {
    this.#settings = settings
    this.#links = links
    this.#references = references
  }

  channels(): readonly Session[] {
    return this.#links.sessions()
  }

  isConnected(): boolean {
    return this.#links.isBound()
  }

  isSlow(now: number): boolean {
    return this.#links.sessions().some((session) => session.isSlow(now))
  }

  /** Encodes a text. Messages of one send share their body, which is encoded once for consecutive messages. */
  partsOf({ body, to, options }: Submission): readonly Segment[] {
    const flash = options?.flash === true
    if (this.#encoded?.body === body && this.#encoded.flash === flash) return this.#encoded.segments
    const segments = encodeBody(body, this.#settings, (limit) => this.#references.next(to, limit), flash)
    const [first] = segments
    const isAlone = segments.length === 1 && first?.hasHeader === false && first.sar === undefined
    if (isAlone) this.#encoded = { body, flash, segments }
    return segments
  }

  send(
    session: Session,
    { message, segment, validSeconds }: PartRequest<Segment>,
    settle: (result: RequestResult) => void,
  ): 'sent' | { readonly invalid: string } {
    const build = (sequence: number) => buildSubmit(this.#settings, message, segment, sequence, validSeconds)
    const sent = session.request(build, (outcome) => settle(this.#resultOf(session, outcome)))
    return sent === 'sent' ? sent : { invalid: 'a field does not fit its place in a submit_sm' }
  }

  #resultOf(session: Session, outcome: RequestOutcome): RequestResult {
    if (outcome === 'unsent') return { is: 'unsent' }
    if (outcome === 'unknown') return { is: 'unknown', hasAnswered: false }
    const { command, status } = outcome
    if (status === 0) {
      if (command !== 'submit_sm_resp') return { is: 'unknown', hasAnswered: true }
      return { is: 'accepted', reference: outcome.messageId === '' ? undefined : outcome.messageId }
    }
    const reason = commandStatusName(status)
    switch (errorClassOf(status, this.#settings.errors)) {
      case 'final':
        return { is: 'refused', reason }
      case 'for-now':
        return { is: 'refused-for-now', reason }
      case 'throttle':
        return { is: 'throttled', reason }
      case 'link':
        // Closes the session with an unbind, because the carrier may have accepted earlier requests whose answers are
        // still expected.
        session.close(`a request was refused: ${reason}`)
        return { is: 'resend', reason }
    }
  }
}
