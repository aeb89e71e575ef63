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

/** Asks a carrier once for each message that it called unknown, where it understands that (SMPP 3.4, 4.8). */
export interface UnknownQueries {
  /** Keeps those of the receipts that call their message unknown. Rejects if the store fails. */
  keep(receipts: readonly DeliveryReceipt[]): Promise<void>
  stop(): void
}

interface Asking {
  readonly carrier: CarrierId
  readonly settings: SmppSettings
  /** Undefined: none may be asked now. */
  readonly session: () => Session | undefined
  readonly to: CarrierHandlers
  readonly tell: (what: string) => void
  readonly report: (problem: unknown) => void
  /** Between two looks. */
  readonly pauseMilliseconds?: number
}

/** Of one look; one until the carrier has answered one: what it ignores is not asked for again. */
const queriesMax = 5

/** Undefined: the carrier is not to be asked. */
export function createUnknownQueries(asking: Asking): UnknownQueries | undefined {
  const { queryUnknownSeconds } = asking.settings
  const { unknownMessages } = asking.to
  if (queryUnknownSeconds === undefined || unknownMessages === undefined) return undefined
  return queriesOf(asking, queryUnknownSeconds, unknownMessages)
}

function queriesOf(
  { carrier, settings, session, to, tell, report, pauseMilliseconds = 1000 }: Asking,
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
      // A store that is away is told once.
      if (!isAway) report(problem)
      isAway = true
    }
    isLooking = false
  }

  async function look(): Promise<void> {
    const countMax = isUnderstood === true ? queriesMax : 1
    const messages = await store.take({ afterSeconds, withinSeconds: unknownSecondsMax, countMax })
    const receipts = await Promise.all(messages.map(ask))
    const told = receipts.filter((receipt) => receipt !== undefined)
    if (told.length > 0) await to.receipts(told)
  }

  async function ask(message: UnknownMessage): Promise<DeliveryReceipt | undefined> {
    const askedAt = performance.now()
    const outcome = await new Promise<RequestOutcome>((resolve) => {
      const sent = session()?.request((sequence) => buildQuery(settings, message, sequence), resolve)
      if (sent !== 'sent') resolve('unsent')
    })
    if (isUnderstood === undefined) learn(outcome, performance.now() - askedAt)
    if (typeof outcome === 'string' || outcome.command !== 'query_sm_resp' || outcome.status !== 0) return undefined
    if (!isStateOfReceipts(outcome.messageState)) return undefined
    const { reference, number } = message
    return { carrier, reference, code: codeOfState(outcome.messageState), number, submitted: undefined }
  }

  /** A link that ended before an answer was due says nothing of the carrier. */
  function learn(outcome: RequestOutcome, elapsed: number): void {
    if (typeof outcome === 'string' && elapsed < settings.responseSeconds * 1000) return
    isUnderstood =
      typeof outcome === 'object' &&
      outcome.command === 'query_sm_resp' &&
      outcome.status !== COMMAND_STATUS.ESME_RINVCMDID
    if (!isUnderstood) tell('it does not understand query_sm and is not asked again: leave queryUnknownSeconds out')
  }

  return {
    async keep(receipts) {
      const references = receipts.flatMap(({ code, reference }) => (code === OUTCOME.unknown ? [reference] : []))
      if (references.length > 0) await store.keep(references)
    },
    stop: () => clearInterval(looking),
  }
}

/** The source must be that of the submit_sm, which many carriers compare (SMPP 3.4, 4.8.1). */
function buildQuery(settings: SmppSettings, { reference, from }: UnknownMessage, sequence: number): QuerySm {
  const source = from === undefined ? { ton: 0, npi: 0 } : tonNpiOf(from, settings, 'source')
  return {
    ...{ command: 'query_sm', status: 0, sequence, tlvs: noTlvs, messageId: reference },
    ...{ sourceAddrTon: source.ton, sourceAddrNpi: source.npi },
    sourceAddr: from === undefined ? '' : writeNumber(from, settings, 'source'),
  }
}
