import type { CallbackRefusal } from '@gateway/adapters-http'
import type { CarrierId } from '@gateway/core/dispatch'

/** Why a callback was refused with 403. */
export type Refusal = CallbackRefusal | 'no-public-url' | 'other-address'

/** Refused callback, without its path, its query, its fields and its texts. */
export interface RefusedCallback {
  /** Time of arrival in ISO 8601. */
  readonly at: string
  readonly carrier: CarrierId
  readonly reason: Refusal
  readonly method: string | undefined
  /** Media type of the body, or 'other'. */
  readonly mediaType: string
  /** Size of the body in bytes. */
  readonly bytes: number
  /** Network address of the caller. */
  readonly from: string
}

/** Maximum number of refused callbacks of one carrier that are kept. */
const perCarrierMax = 20

/** Sample of refused callbacks in memory: the latest 20 of each carrier since the start of the process. */
export class RefusedCallbacks {
  readonly #latest = new Map<CarrierId, RefusedCallback[]>()

  add(callback: RefusedCallback): void {
    const latest = this.#latest.get(callback.carrier) ?? []
    this.#latest.set(callback.carrier, [...latest, callback].slice(-perCarrierMax))
  }

  /** Returns the sample of all carriers, latest first. */
  list(): readonly RefusedCallback[] {
    return [...this.#latest.values()].flat().sort((a, b) => (a.at < b.at ? 1 : -1))
  }
}
