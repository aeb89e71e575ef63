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
import { alwaysPermitted, type BindPermit, type PermittedLink } from './shared-binds.ts'

export interface LinkEvents {
  /** As of a session. */
  readonly answered: (milliseconds: number) => void
  /** As of a session. */
  readonly saw?: SessionEvents['saw']
  /** A session is bound, or one has ended. */
  changed(): void
  delivered(pdu: Delivered, answer: AnswerDelivered, confirm: Confirm, octets: () => Buffer): void
  /** As of a session. */
  readonly unusable: SessionEvents['unusable']
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
      answered: events.answered,
      ...(events.saw && { saw: events.saw }),
      opened() {
        boundSince = events.clock.now()
        events.changed()
      },
      delivered: (pdu, answer, confirm, octets) => events.delivered(pdu, answer, confirm, octets),
      unusable: events.unusable,
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

/**
 * The wait before the next attempt to connect after `failures` in a row: it doubles, and half of it is chance (0 to 1).
 */
export function reconnectDelay(failures: number, seconds: number, secondsMax: number, chance: number): number {
  const most = Math.min(secondsMax, seconds * 2 ** Math.min(Math.max(failures - 1, 0), 20))
  return (most * (1 + chance)) / 2
}

/** Hears of every link that fails or is bound, and tells operators what they should know of it. */
export interface LinkOutage {
  /** A link has ended, or none came about; so many of all are bound. */
  failed(reason: string, bound: number, all: number): void
  bound(bound: number, all: number): void
}

interface Telling {
  readonly failed: (what: string) => void
  readonly works: (what: string) => void
}

/** Between two lines about links that stay away. */
const reminderMilliseconds = 60_000
/** So many lines of what is new come within that time: a link that is bound and lost all the time is no news. */
const newsMax = 3

/**
 * Tells when fewer links are bound than was told, or for another reason; when more are again; and meanwhile once a
 * minute. `now` in milliseconds.
 */
export function createLinkOutage({ failed, works }: Telling, now: () => number): LinkOutage {
  let since: number | undefined
  /** What was told of this outage. */
  let told: { readonly bound: number; readonly reasons: readonly string[] } | undefined
  /** Of the last minute. */
  let toldAt: readonly number[] = []
  let untold = 0

  return {
    failed(reason, bound, all) {
      const at = now()
      since ??= at
      toldAt = toldAt.filter((before) => at - before < reminderMilliseconds)
      const isNews = told === undefined || bound < told.bound || !told.reasons.includes(reason)
      if (toldAt.length >= (isNews ? newsMax : 1)) {
        untold++
        return
      }
      failed(untold === 0 ? reason : `${reason}; ${untold} failures before, ${linksOf(bound, all)} ${after(since, at)}`)
      told = { bound, reasons: [...(told?.reasons ?? []), reason] }
      toldAt = [...toldAt, at]
      untold = 0
    },
    bound(bound, all) {
      if (told !== undefined && since !== undefined && bound > told.bound) {
        works(`${linksOf(bound, all)} again ${after(since, now())}`)
        told = { ...told, bound }
        untold = 0
      }
      if (bound === all) since = told = undefined
    },
  }
}

const linksOf = (bound: number, all: number): string =>
  all === 1 ? `its link is ${bound === 1 ? '' : 'not '}bound` : `${bound} of ${all} links are bound`

const after = (since: number, at: number): string => `after ${Math.round((at - since) / 1000)} s`
