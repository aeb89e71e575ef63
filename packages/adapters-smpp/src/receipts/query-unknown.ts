import {
  unknownSecondsMax,
  type CarrierHandlers,
  type CarrierId,
  type DeliveryReceipt,
  type UnknownMessage,
} from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'
import { tonNpiOf, writeNumber } from '../numbers.ts'
import { COMMAND_STATUS, noTlvs, type QuerySm } from '@gateway/smpp'
import type { RequestOutcome, Session } from '../session/session.ts'
import type { SmppSettings } from '../settings.ts'
import { codeOfState, isStateOfReceipts } from './read-receipt.ts'

interface QueryOptions {
  readonly carrier: CarrierId
  readonly settings: SmppSettings
  /** Returns a session that may send a request now, if there is one. */
  readonly session: () => Session | undefined
  readonly to: CarrierHandlers
  /** Reports to operators that the carrier does not understand query_sm. */
  readonly notify: (text: string) => void
  readonly report: (problem: unknown) => void
  /** Time between two reads of the store. */
  readonly pauseMilliseconds?: number
}

/**
 * Maximum number of queries per read of the store. Until the carrier has answered a query, only one query is sent per
 * read, because a message is queried only once, even if the carrier ignores the query.
 */
const queriesMax = 5

/**
 * Sends one query_sm for each message whose receipt has the state unknown (SMPP 3.4, 4.8).
 *
 *   not known whether the carrier understands query_sm --it answers--> understood: further queries
 *                                                       +--no answer in time, or refused--> no further query
 */
export class UnknownQueries {
  readonly #options: QueryOptions
  readonly #afterSeconds: number
  readonly #store: UnknownStore
  readonly #looking: NodeJS.Timeout
  #isUnderstood: boolean | undefined
  #isLooking = false
  #isAway = false

  constructor(options: QueryOptions, afterSeconds: number, store: UnknownStore) {
    this.#options = options
    this.#afterSeconds = afterSeconds
    this.#store = store
    this.#looking = setInterval(() => void this.#lookOnce(), options.pauseMilliseconds ?? 1000)
  }

  /** Stores the messages whose receipts have the state unknown, to query them later. Rejects if the store fails. */
  async keep(receipts: readonly DeliveryReceipt[]): Promise<void> {
    const references = receipts.flatMap(({ code, reference }) => (code === OUTCOME.unknown ? [reference] : []))
    if (references.length > 0) await this.#store.keep(references)
  }

  stop(): void {
    clearInterval(this.#looking)
  }

  async #lookOnce(): Promise<void> {
    const { session, report } = this.#options
    if (this.#isLooking || this.#isUnderstood === false || session() === undefined) return
    this.#isLooking = true
    try {
      await this.#look()
      this.#isAway = false
    } catch (problem) {
      // A store that does not answer is reported once.
      if (!this.#isAway) report(problem)
      this.#isAway = true
    }
    this.#isLooking = false
  }

  async #look(): Promise<void> {
    const countMax = this.#isUnderstood === true ? queriesMax : 1
    const selection = { afterSeconds: this.#afterSeconds, withinSeconds: unknownSecondsMax, countMax }
    const messages = await this.#store.take(selection)
    const receipts = await Promise.all(messages.map((message) => this.#ask(message)))
    const readable = receipts.filter((receipt) => receipt !== undefined)
    if (readable.length > 0) await this.#options.to.receipts(readable)
  }

  async #ask(message: UnknownMessage): Promise<DeliveryReceipt | undefined> {
    const { carrier, settings, session } = this.#options
    const sentAt = performance.now()
    const outcome = await new Promise<RequestOutcome>((resolve) => {
      const sent = session()?.request((sequence) => buildQuery(settings, message, sequence), resolve)
      if (sent !== 'sent') resolve('unsent')
    })
    if (this.#isUnderstood === undefined) this.#learn(outcome, performance.now() - sentAt)
    if (typeof outcome === 'string' || outcome.command !== 'query_sm_resp' || outcome.status !== 0) return undefined
    if (!isStateOfReceipts(outcome.messageState)) return undefined
    const { reference, number } = message
    return { carrier, reference, code: codeOfState(outcome.messageState), number, submitted: undefined }
  }

  /** Learns whether the carrier understands query_sm. A link that ended before the response was due proves nothing. */
  #learn(outcome: RequestOutcome, elapsed: number): void {
    const { settings, notify } = this.#options
    if (typeof outcome === 'string' && elapsed < settings.responseSeconds * 1000) return
    this.#isUnderstood =
      typeof outcome === 'object' &&
      outcome.command === 'query_sm_resp' &&
      outcome.status !== COMMAND_STATUS.ESME_RINVCMDID
    if (!this.#isUnderstood)
      notify('it does not understand query_sm and gets no more of them: remove queryUnknownSeconds')
  }
}

type UnknownStore = NonNullable<CarrierHandlers['unknownMessages']>

/**
 * Creates the queries of a carrier. Returns undefined if the setting `queryUnknownSeconds` or the handler
 * `unknownMessages` is missing.
 */
export function unknownQueries(options: QueryOptions): UnknownQueries | undefined {
  const { queryUnknownSeconds } = options.settings
  const { unknownMessages } = options.to
  if (queryUnknownSeconds === undefined || unknownMessages === undefined) return undefined
  return new UnknownQueries(options, queryUnknownSeconds, unknownMessages)
}

/** Builds a query_sm. Its source is that of the submit_sm, because many carriers compare them (SMPP 3.4, 4.8.1). */
function buildQuery(settings: SmppSettings, { reference, from }: UnknownMessage, sequence: number): QuerySm {
  const source = from === undefined ? { ton: 0, npi: 0 } : tonNpiOf(from, settings, 'source')
  return {
    ...{ command: 'query_sm', status: 0, sequence, tlvs: noTlvs, messageId: reference },
    ...{ sourceAddrTon: source.ton, sourceAddrNpi: source.npi },
    sourceAddr: from === undefined ? '' : writeNumber(from, settings, 'source'),
  }
}
