import type { CallbackRefusal } from '@gateway/adapters-http'
import type { CarrierId } from '@gateway/core/dispatch'
import { clientAddress, mediaType, throttled, type Log, type Metrics } from '@gateway/server'
import type { IncomingMessage } from 'node:http'
import type { CallbackCarriers } from './callback-carriers.ts'

/** How a callback was answered. */
export type CallbackResult = 'stored' | 'refused' | 'limited' | 'too-large' | 'unavailable'

/** Why a callback was refused with 403. */
export type Refusal = CallbackRefusal | 'no-public-url' | 'other-address'

const none: Readonly<Record<CallbackResult, number>> = {
  ...{ stored: 0, refused: 0, limited: 0, 'too-large': 0, unavailable: 0 },
}

/** Milliseconds between two lines in the log about refused callbacks of one carrier. */
const sampleMilliseconds = 60_000

type LogRefusal = (refusal: Refusal, request: IncomingMessage, bytes: number) => void

/** Counts callbacks by carrier, and logs a sample of those that are refused. */
export class CallbackCounts {
  readonly #log: Log
  readonly #counts = new Map<CarrierId, Record<CallbackResult, number>>()
  readonly #samples = new Map<CarrierId, LogRefusal>()

  constructor(log: Log) {
    this.#log = log
  }

  count(carrier: CarrierId, result: CallbackResult): void {
    const counts = this.#counts.get(carrier) ?? { ...none }
    counts[result] += 1
    this.#counts.set(carrier, counts)
  }

  /** Counts a refused callback. The first in a minute is logged, without its path, its fields and its texts. */
  refuse(carrier: CarrierId, refusal: Refusal, request: IncomingMessage, bytes: number): void {
    this.count(carrier, 'refused')
    const sample = this.#samples.get(carrier) ?? this.#sampleOf(carrier)
    this.#samples.set(carrier, sample)
    sample(refusal, request, bytes)
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

  #sampleOf(carrier: CarrierId): LogRefusal {
    return throttled(sampleMilliseconds, (unwritten, reason: Refusal, request: IncomingMessage, bytes: number) => {
      const { method } = request
      const sample = { carrier, reason, method, mediaType: mediaType(request), bytes, from: clientAddress(request) }
      this.#log.warn({ ...sample, unwritten }, 'callback refused: check PUBLIC_URL and the secrets of the carrier')
    })
  }
}
