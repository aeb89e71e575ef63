import { alwaysPermitted, type BindPermit, type PermittedLink } from '@gateway/carrier-kit'
import type { Confirm } from '../inbound/offers.ts'
import type { SmppSettings } from '../settings.ts'
import {
  openSession,
  type AnswerDelivered,
  type Delivered,
  type Role,
  type Session,
  type SessionEvents,
} from './session.ts'

/** Callbacks of a link. `answered`, `saw`, `unusable` and `delivered` are those of its sessions (`SessionEvents`). */
export interface LinkEvents {
  readonly answered: (milliseconds: number) => void
  readonly saw?: SessionEvents['saw']
  readonly unusable: SessionEvents['unusable']
  delivered(pdu: Delivered, answer: AnswerDelivered, confirm: Confirm, octets: () => Buffer): void
  /** A session has been bound or has ended. */
  changed(): void
  /** A session ended unexpectedly, or could not be bound. */
  lost(reason: string): void
  /** Clock for the time of the bind that operators see, in milliseconds since 1970. */
  readonly clock: { now(): number }
}

export interface LinkStatus {
  readonly role: Role
  /** Time of the bind, in milliseconds since 1970; undefined if the link is not bound. */
  readonly boundSince: number | undefined
  readonly inUse: number
}

/**
 * A bind to a carrier that is made again whenever its session ends, until the link is closed.
 *
 *   no permit --granted--> connecting --bound--> bound
 *      ^                        |                  |
 *      |                        +--session ends----+--> permit dropped, pause
 *      +--end of the pause----------------------------------+
 *
 *   any state --close, destroy--> closing --session has ended--> closed
 *
 * The pause grows with each failure in a row. A withdrawn permit ends the session.
 */
export class Link {
  readonly #settings: SmppSettings
  readonly #role: Role
  readonly #events: LinkEvents
  readonly #permit: BindPermit
  #session: Session | undefined
  #boundSince: number | undefined
  #isClosing = false
  #failures = 0
  #reconnecting: NodeJS.Timeout | undefined
  #ended: (() => void) | undefined

  readonly #permitted: PermittedLink = {
    granted: () => this.#open(),
    withdrawn: (when) => {
      if (this.#session === undefined) return
      if (when === 'soon') this.#session.close()
      else this.#session.destroy('its share of the binds has ended')
    },
  }

  constructor(settings: SmppSettings, role: Role, events: LinkEvents, permit: BindPermit = alwaysPermitted) {
    this.#settings = settings
    this.#role = role
    this.#events = events
    this.#permit = permit
    permit.take(this.#permitted)
  }

  /** Returns the session if it is bound. */
  session(): Session | undefined {
    return this.#boundSince === undefined ? undefined : this.#session
  }

  /** Ends the link for good. Resolves when the session has been closed, or at once if there is none. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#isClosing = true
      clearTimeout(this.#reconnecting)
      this.#ended = resolve
      if (this.#session !== undefined) this.#session.close()
      else {
        this.#permit.drop(this.#permitted)
        resolve()
      }
    })
  }

  /** Ends the link and its connection at once, without an unbind. */
  destroy(): void {
    this.#isClosing = true
    clearTimeout(this.#reconnecting)
    if (this.#session === undefined) this.#permit.drop(this.#permitted)
    else this.#session.destroy('closed')
  }

  status(): LinkStatus {
    return { role: this.#role, boundSince: this.#boundSince, inUse: this.#session?.inUse() ?? 0 }
  }

  #open(): void {
    if (this.#session !== undefined || this.#isClosing) return
    const { answered, saw, unusable, clock } = this.#events
    this.#session = openSession(this.#settings, this.#role, {
      answered,
      ...(saw && { saw }),
      opened: () => {
        this.#boundSince = clock.now()
        this.#events.changed()
      },
      delivered: (pdu, answer, confirm, octets) => this.#events.delivered(pdu, answer, confirm, octets),
      unusable,
      ended: (reason) => this.#lost(reason),
    })
  }

  #lost(reason: string): void {
    // A bind that ends at once counts as a failure too, so that the pauses grow.
    this.#failures = this.#session?.hasWorked() === true ? 1 : this.#failures + 1
    this.#session = this.#boundSince = undefined
    this.#permit.drop(this.#permitted)
    if (this.#isClosing) this.#ended?.()
    else {
      const { reconnectSeconds, reconnectSecondsMax } = this.#settings
      const seconds = reconnectDelay(this.#failures, reconnectSeconds, reconnectSecondsMax, Math.random())
      this.#reconnecting = setTimeout(() => this.#permit.take(this.#permitted), 1000 * seconds)
      this.#events.lost(reason)
    }
    this.#events.changed()
  }
}

/**
 * Returns the seconds to wait before the next attempt to connect, after `failures` in a row. The wait doubles up to
 * `secondsMax`; half of it is random (`chance` from 0 to 1), so that processes do not connect all at once.
 */
export function reconnectDelay(failures: number, seconds: number, secondsMax: number, chance: number): number {
  const most = Math.min(secondsMax, seconds * 2 ** Math.min(Math.max(failures - 1, 0), 20))
  return (most * (1 + chance)) / 2
}
