import { throttled, type Log, type Metrics } from '@gateway/server'
import type { CustomerBind, CustomerSession } from './binds/customer-bind.ts'
import type { CloseReason } from './session/session.ts'
import { statusName } from './submissions/command-status.ts'
import type { OutsideAlphabet } from './text/alphabets.ts'

/** Upper bounds of the buckets of response times, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
const logMilliseconds = 60_000

interface Times {
  readonly counts: number[]
  sum: number
}

/** Counts of the SMPP server. No label contains an id of a customer (P-15). */
export class SmppCounts {
  readonly #responses = new Map<string, { readonly command: string; readonly status: string; value: number }>()
  readonly #closings = new Map<CloseReason, number>()
  readonly #times: Times = { counts: [...bounds, Infinity].map(() => 0), sum: 0 }
  readonly #logStray
  #strayTexts = 0

  constructor(log: Log) {
    this.#logStray = throttled(logMilliseconds, (unwritten, systemId: string, { alphabet, at }: OutsideAlphabet) => {
      log.warn(
        { systemId, alphabet, position: at, unwritten },
        'a text has an octet outside its alphabet: check --alphabet0 and --alphabet1 of the credential',
      )
    })
  }

  respond(command: string, status: number, milliseconds: number): void {
    const key = `${command} ${status}`
    const count = this.#responses.get(key) ?? { command, status: statusName(status), value: 0 }
    count.value++
    this.#responses.set(key, count)
    const seconds = milliseconds / 1000
    const bucket = bounds.findIndex((bound) => seconds <= bound)
    const at = bucket === -1 ? bounds.length : bucket
    this.#times.counts[at] = (this.#times.counts[at] ?? 0) + 1
    this.#times.sum += seconds
  }

  /** Counts a response that was sent without executing a request. */
  refuse(status: number): void {
    const key = `refused ${status}`
    const count = this.#responses.get(key) ?? { command: 'refused', status: statusName(status), value: 0 }
    count.value++
    this.#responses.set(key, count)
  }

  stray(bind: CustomerBind, outside: OutsideAlphabet): void {
    bind.strayTexts++
    this.#strayTexts++
    this.#logStray(bind.systemId, outside)
  }

  close(reason: CloseReason): void {
    this.#closings.set(reason, (this.#closings.get(reason) ?? 0) + 1)
  }

  register(metrics: Metrics, sessions: () => readonly CustomerSession[]): void {
    metrics.gauge('gateway_smpp_binds', 'Binds of customers in this process', ['mode'], () => {
      const modes = sessions().map(({ kind }) => kind)
      return (['transceiver', 'transmitter', 'receiver'] as const).map((mode) => ({
        labels: { mode },
        value: modes.filter((one) => one === mode).length,
      }))
    })
    metrics.counter(
      'gateway_smpp_responses_total',
      'Responses to requests of customers over SMPP since the start of the process',
      ['command', 'status'],
      () => [...this.#responses.values()].map(({ command, status, value }) => ({ labels: { command, status }, value })),
    )
    metrics.histogram(
      'gateway_smpp_response_seconds',
      'From a request of a customer over SMPP to its response',
      [],
      () => [{ labels: {}, bounds, ...this.#times }],
    )
    metrics.counter(
      'gateway_smpp_stray_texts_total',
      'Texts over SMPP that were refused because of an octet outside their alphabet',
      [],
      () => [{ labels: {}, value: this.#strayTexts }],
    )
    metrics.counter('gateway_smpp_closed_total', 'Ended sessions of customers over SMPP', ['reason'], () =>
      [...this.#closings].map(([reason, value]) => ({ labels: { reason }, value })),
    )
  }
}
