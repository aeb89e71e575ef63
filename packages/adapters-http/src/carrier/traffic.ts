import type { ObservedTraffic, TrafficObserver } from '@gateway/core/fleet'
import type { ProviderAccount } from '../account.ts'
import { parseJson } from '../description/json.ts'
import type { HttpRequest } from '../requests/build-request.ts'
import { maskSecrets } from '../requests/mask-secrets.ts'
import type { Exchange } from '../transport/exchange.ts'

/** One request as it is shown to observers, with and without the text of the message. Both forms contain no secrets. */
export interface ShownRequest {
  /** Recipient in international digits. */
  readonly to: string
  /** Text of the message. */
  readonly text: string
  readonly withText: HttpRequest
  readonly withoutText: HttpRequest
}

/** Shows the requests and answers of a carrier to observers. Without observers it costs one comparison. */
export class HttpTraffic {
  readonly #account: ProviderAccount
  #observers: readonly TrafficObserver[] = []
  #sequence = 0

  constructor(account: ProviderAccount) {
    this.#account = account
  }

  observe(observers: readonly TrafficObserver[]): void {
    this.#observers = observers
  }

  /**
   * Shows a request to the observers. Calls `build` only if there are any. Returns the function to call with the
   * outcome.
   */
  sent(build: () => ShownRequest): (exchange: Exchange) => void {
    if (this.#observers.length === 0) return () => undefined
    const request = build()
    const observers = this.#observers.filter(({ number }) => number === undefined || isLike(request.to, number))
    const sequence = ++this.#sequence
    for (const observer of observers) {
      const { method, url, headers, body } = observer.hasText ? request.withText : request.withoutText
      show(observer, 'sent', { command: method, sequence, url, headers, body: body ?? null })
    }
    return (exchange) => {
      for (const observer of observers) {
        const hidden = observer.hasText ? undefined : request.text
        show(observer, 'received', { sequence, ...this.#fieldsOf(exchange, hidden) })
      }
    }
  }

  /**
   * Returns the fields of an outcome. A provider may return anything that was sent, so secrets are masked, and the
   * message text `hidden` is replaced.
   */
  #fieldsOf(exchange: Exchange, hidden: string | undefined): Readonly<Record<string, unknown>> {
    if (exchange.outcome !== 'answered') return { command: exchange.outcome, reason: exchange.reason }
    const { status, headers, body } = exchange.answer
    const masked = Object.entries(headers).map(([name, value]) => [name, maskSecrets(value ?? '', this.#account)])
    const shown = hidden === undefined ? body : withoutText(body, hidden)
    return { command: `HTTP ${status}`, headers: Object.fromEntries(masked), body: maskSecrets(shown, this.#account) }
  }
}

/** Returns the text that is shown instead of the text of a message. */
export const hiddenText = (text: string): string => `(${text.length} characters)`

/** Replaces the text of a message in an answer. In JSON, finds the text in strings however they are escaped. */
function withoutText(body: string, text: string): string {
  const hide = (value: string): string => value.replaceAll(text, hiddenText(text))
  const document = parseJson(body)
  if (document === undefined) return hide(body)
  return JSON.stringify(document, (_, value: unknown) => (typeof value === 'string' ? hide(value) : value))
}

const show = (
  observer: TrafficObserver,
  direction: ObservedTraffic['direction'],
  fields: ObservedTraffic['fields'],
): void => observer.saw({ direction, role: 'request', fields })

/** Number of last digits that must be equal for two numbers to match. Carriers over SMPP use the same number. */
const digitsCompared = 9

const isLike = (address: string, number: string): boolean =>
  address === number || (number.length >= digitsCompared && address.endsWith(number.slice(-digitsCompared)))
