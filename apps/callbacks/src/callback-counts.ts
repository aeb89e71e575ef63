import type { CarrierId } from '@gateway/core/dispatch'
import { clientAddress, mediaType, throttled, type Log, type Metrics } from '@gateway/server'
import type { IncomingMessage } from 'node:http'
import type { CallbackCarriers } from './callback-carriers.ts'
import type { RefusedCallback, RefusedCallbacks, Refusal } from './refused-callbacks.ts'

/** Result of a callback, as counted in the metrics. */
export type CallbackResult = 'stored' | 'refused' | 'limited' | 'too-large' | 'unavailable'

const none: Readonly<Record<CallbackResult, number>> = {
  ...{ stored: 0, refused: 0, limited: 0, 'too-large': 0, unavailable: 0 },
}

/** Milliseconds between two lines in the log about refused callbacks of one carrier. */
const sampleMilliseconds = 60_000

const knownTypes: readonly string[] = [
  ...['application/json', 'application/x-www-form-urlencoded', 'application/xml', 'multipart/form-data'],
  ...['text/html', 'text/plain', 'text/xml', ''],
]

/** Returns the media type, or 'other' if it is not a usual one, because a caller can put any text there. */
function knownType(request: IncomingMessage): string {
  const type = mediaType(request)
  return knownTypes.includes(type) ? type : 'other'
}

type LogRefusal = (refused: RefusedCallback) => void

/** Counts callbacks by carrier, and logs a sample of the refused callbacks. */
export class CallbackCounts {
  readonly #log: Log
  readonly #refused: RefusedCallbacks
  readonly #counts = new Map<CarrierId, Record<CallbackResult, number>>()
  readonly #samples = new Map<CarrierId, LogRefusal>()

  constructor(log: Log, refused: RefusedCallbacks) {
    this.#log = log
    this.#refused = refused
  }

  count(carrier: CarrierId, result: CallbackResult): void {
    const counts = this.#counts.get(carrier) ?? { ...none }
    counts[result] += 1
    this.#counts.set(carrier, counts)
  }

  /**
   * Counts a refused callback and adds it to the sample. Logs the first one in a minute. Neither the log nor the sample
   * contains the path, fields or texts of the callback.
   */
  refuse(carrier: CarrierId, reason: Refusal, request: IncomingMessage, { bytes, now }: Received): void {
    this.count(carrier, 'refused')
    const { method } = request
    const common = { carrier, reason, method, mediaType: knownType(request), bytes, from: clientAddress(request) }
    const refused = { at: new Date(now).toISOString(), ...common }
    this.#refused.add(refused)
    const log = this.#samples.get(carrier) ?? this.#logFor()
    this.#samples.set(carrier, log)
    log(refused)
  }

  /** Registers the metric. The count of each carrier begins at 0, so that an alert notices the first refusal. */
  register(metrics: Metrics, carriers: Pick<CallbackCarriers, 'list'>): void {
    const help = 'Callbacks of carriers over HTTP since the start of the process'
    metrics.counter('gateway_callbacks_total', help, ['carrier', 'result'], () =>
      [...new Set([...carriers.list(), ...this.#counts.keys()])].flatMap((carrier) =>
        Object.entries(this.#counts.get(carrier) ?? none).map(([result, value]) => ({
          labels: { carrier, result },
          value,
        })),
      ),
    )
  }

  #logFor(): LogRefusal {
    return throttled(sampleMilliseconds, (unwritten, { at: _, ...refused }: RefusedCallback) => {
      this.#log.warn({ ...refused, unwritten }, 'callback refused: check PUBLIC_URL and the secrets of the carrier')
    })
  }
}

/** Size of a callback in bytes, and its time in milliseconds since 1970. */
interface Received {
  readonly bytes: number
  readonly now: number
}
