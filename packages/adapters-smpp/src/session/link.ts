import type { Confirm } from '../inbound/offers.ts'
import type { SmppSettings } from '../settings.ts'
import { alwaysPermitted, type BindPermit, type PermittedLink } from './bind-permit.ts'
import { reconnectDelay } from './reconnect-delay.ts'
import { openSession, type AnswerDelivered, type Delivered, type Role, type Session } from './session.ts'

export interface LinkEvents {
  /** A session is bound, or one has ended. */
  changed(): void
  delivered(pdu: Delivered, answer: AnswerDelivered, confirm: Confirm): void
  /** A session ended that nobody closed, or none came about. */
  lost(reason: string): void
  /** By which it tells since when it is bound, in milliseconds since 1970. */
  readonly clock: { now(): number }
}

export interface LinkStatus {
  readonly role: Role
  /** Milliseconds since 1970; undefined: it is not bound. */
  readonly boundSince: number | undefined
  readonly inUse: number
}

/** A connection that is made again when it ends, until it is closed. */
export interface Link {
  /** The session that is bound. */
  session(): Session | undefined
  /** Resolves when the session has ended in good order, or at once if there is none; nothing is made again. */
  close(): Promise<void>
  /** Ends without a word. */
  destroy(): void
  status(): LinkStatus
}

export function createLink(
  settings: SmppSettings,
  role: Role,
  events: LinkEvents,
  permit: BindPermit = alwaysPermitted,
): Link {
  let current: Session | undefined
  let boundSince: number | undefined
  let isClosing = false
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let ended: (() => void) | undefined

  const permitted: PermittedLink = {
    granted: open,
    withdrawn(when) {
      if (current === undefined) return
      if (when === 'soon') current.close()
      else current.destroy('its share of the binds has ended')
    },
  }

  function open(): void {
    if (current !== undefined || isClosing) return
    current = openSession(settings, role, {
      opened() {
        boundSince = events.clock.now()
        events.changed()
      },
      delivered: (pdu, answer, confirm) => events.delivered(pdu, answer, confirm),
      ended: lost,
    })
  }

  function lost(reason: string): void {
    // A bind that ends at once is a failure too: it is tried again after longer and longer pauses.
    failures = current?.hasWorked() === true ? 1 : failures + 1
    current = boundSince = undefined
    permit.drop(permitted)
    if (isClosing) ended?.()
    else {
      const { reconnectSeconds, reconnectSecondsMax } = settings
      const seconds = reconnectDelay(failures, reconnectSeconds, reconnectSecondsMax, Math.random())
      timer = setTimeout(() => permit.take(permitted), 1000 * seconds)
      events.lost(reason)
    }
    events.changed()
  }

  permit.take(permitted)
  return {
    session: () => (boundSince === undefined ? undefined : current),
    close: () =>
      new Promise((resolve) => {
        isClosing = true
        clearTimeout(timer)
        ended = resolve
        if (current !== undefined) current.close()
        else {
          permit.drop(permitted)
          resolve()
        }
      }),
    destroy() {
      isClosing = true
      clearTimeout(timer)
      if (current === undefined) permit.drop(permitted)
      else current.destroy('closed')
    },
    status: () => ({ role, boundSince, inUse: current?.inUse() ?? 0 }),
  }
}
