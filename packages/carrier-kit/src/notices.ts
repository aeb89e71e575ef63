import type { CarrierId } from '@gateway/core/dispatch'

/** Callbacks for events that operators should know. */
export interface Reporting {
  readonly report: (problem: unknown) => void
  /** Reports that a problem is over. */
  readonly works?: (text: string) => void
  /** Clock for the times that operators see. Default: the machine's clock. */
  readonly clock?: { now(): number }
}

/** Notices of one carrier to operators, each of which begins with the name of the carrier. */
export class Notices {
  readonly #carrier: CarrierId
  readonly #reporting: Reporting
  #lastError: string | undefined

  constructor(carrier: CarrierId, reporting: Reporting) {
    this.#carrier = carrier
    this.#reporting = reporting
  }

  get lastError(): string | undefined {
    return this.#lastError
  }

  /** Sets the last error of the status without reporting it. */
  readonly note = (text: string): void => void (this.#lastError = text)

  /** Reports a problem without setting it as the last error. */
  readonly warn = (text: string): void => this.#reporting.report(new Error(`carrier ${this.#carrier}: ${text}`))

  /** Reports a problem and sets it as the last error. */
  readonly fail = (text: string): void => {
    this.note(text)
    this.warn(text)
  }

  /** Reports that a problem is over. */
  readonly works = (text: string): void => this.#reporting.works?.(`carrier ${this.#carrier}: ${text}`)
}
