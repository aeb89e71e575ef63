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

/** Sends one query_sm for each message whose receipt has the state unknown (SMPP 3.4, 4.8). */
export interface UnknownQueries {
  /** Stores the messages to query: those of receipts with the state unknown. Rejects if the store fails. */
  keep(receipts: readonly DeliveryReceipt[]): Promise<void>
  stop(): void
}

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
 * Maximum number of queries per read of the store. Until the carrier has answered a query, only one is sent, because a
 * message is queried once even if the carrier ignores the query.
 */
const queriesMax = 5

/** Creates the queries, or returns undefined if the settings or the store do not provide for them. */
export function createUnknownQueries(options: QueryOptions): UnknownQueries | undefined {
  const { queryUnknownSeconds } = options.settings
  const { unknownMessages } = options.to
  if (queryUnknownSeconds === undefined || unknownMessages === undefined) return undefined
  return queriesOf(options, queryUnknownSeconds, unknownMessages)
}

function queriesOf(
  { carrier, settings, session, to, notify, report, pauseMilliseconds = 1000 }: QueryOptions,
  afterSeconds: number,
  store: NonNullable<CarrierHandlers['unknownMessages']>,
): UnknownQueries {
  let isUnderstood: boolean | undefined
  let isLooking = false
  let isAway = false
  const looking = setInterval(() => void lookOnce(), pauseMilliseconds)

  async function lookOnce(): Promise<void> {
    if (isLooking || isUnderstood === false || session() === undefined) return
    isLooking = true
    try {
      await look()
      isAway = false
    } catch (problem) {
      // A store that does not answer is reported once.
      if (!isAway) report(problem)
      isAway = true
    }
    isLooking = false
  }

  async function look(): Promise<void> {
    const countMax = isUnderstood === true ? queriesMax : 1
    const messages = await store.take({ afterSeconds, withinSeconds: unknownSecondsMax, countMax })
    const receipts = await Promise.all(messages.map(ask))
    const readable = receipts.filter((receipt) => receipt !== undefined)
    if (readable.length > 0) await to.receipts(readable)
  }

  async function ask(message: UnknownMessage): Promise<DeliveryReceipt | undefined> {
    const sentAt = performance.now()
    const outcome = await new Promise<RequestOutcome>((resolve) => {
      const sent = session()?.request((sequence) => buildQuery(settings, message, sequence), resolve)
      if (sent !== 'sent') resolve('unsent')
    })
    if (isUnderstood === undefined) learn(outcome, performance.now() - sentAt)
    if (typeof outcome === 'string' || outcome.command !== 'query_sm_resp' || outcome.status !== 0) return undefined
    if (!isStateOfReceipts(outcome.messageState)) return undefined
    const { reference, number } = message
    return { carrier, reference, code: codeOfState(outcome.messageState), number, submitted: undefined }
  }

  /** Learns whether the carrier understands query_sm. A link that ended before the response was due proves nothing. */
  function learn(outcome: RequestOutcome, elapsed: number): void {
    if (typeof outcome === 'string' && elapsed < settings.responseSeconds * 1000) return
    isUnderstood =
      typeof outcome === 'object' &&
      outcome.command === 'query_sm_resp' &&
      outcome.status !== COMMAND_STATUS.ESME_RINVCMDID
    if (!isUnderstood) notify('it does not understand query_sm and gets no more of them: remove queryUnknownSeconds')
  }

  return {
    async keep(receipts) {
      const references = receipts.flatMap(({ code, reference }) => (code === OUTCOME.unknown ? [reference] : []))
      if (references.length > 0) await store.keep(references)
    },
    stop: () => clearInterval(looking),
  }
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
