import type { BackOffice, Gateway } from '@gateway/core'
import type { Account, ComesFrom } from '@gateway/core/accounts'
import type { HolderAccess, HolderChange, HolderRole, OperatorAccess } from '@gateway/core/audit'
import type { Credits } from '@gateway/core/credits'
import type { Browser, Operator, OperatorSession, Session, User } from '@gateway/core/people'
import type { Instant } from '@gateway/core/time'
import type { Cell } from '@gateway/wire'
import type { VNode } from 'preact'
import type { Fields } from './forms.ts'
import type { OidcProvider } from './oidc.ts'

/** A request for a page, and who asks. */
export interface Visit {
  readonly gateway: Gateway
  readonly holders: HolderAccess
  /** Undefined: no operator signs in at this portal. */
  readonly operators: OperatorAccess | undefined
  readonly now: Instant
  /** What stands in the place of `:name` of the path. */
  readonly parameters: Readonly<Record<string, string | undefined>>
  readonly query: URLSearchParams
  readonly browser: Browser
  readonly network: string
  readonly comesFrom: ComesFrom
  /** Where operators may sign in too. */
  readonly oidc: OidcProvider | undefined
  /** The address of this page as the browser has it; undefined: it says no host. */
  readonly here: URL | undefined
  /** Of the cookie that the page before `Leave` was answered with. */
  readonly attempt: string | undefined
}

/** The same of somebody who is signed in. Pages read and change this account and no other. */
export interface HolderVisit extends Visit {
  /** Refuses what is not of the role, and records what changes something. */
  readonly gateway: Gateway
  readonly account: Account
  /** Undefined: with the account's own password. */
  readonly user: User | undefined
  readonly role: HolderRole
  readonly balance: Credits
  readonly session: Pick<Session, 'id'>
}

/** The same of an operator, who may see everything. What the role may not change, the back office refuses. */
export interface OperatorVisit extends Visit {
  readonly backOffice: BackOffice
  readonly operator: Operator
  readonly session: OperatorSession
}

/** A place of the row below the header. */
export type Place =
  | 'overview'
  | 'send'
  | 'sends'
  | 'messages'
  | 'inbox'
  | 'opt-outs'
  | 'statement'
  | 'accounts'
  | 'settings'
  | 'now'
  | 'operator-accounts'
  | 'operator-messages'
  | 'carriers'
  | 'numbers'
  | 'arrivals'
  | 'webhooks'
  | 'operators'
  | 'security'
  | 'audit'

export interface View extends Keeping {
  readonly title: string
  readonly main: VNode
  readonly place?: Place
  /** Default 200; 422 where a form was filled in wrongly. */
  readonly status?: 200 | 400 | 401 | 403 | 404 | 413 | 422 | 429 | 500 | 503
  /** Marked parts follow by themselves while this is so; left out: nothing of the page changes by itself. */
  readonly live?: boolean
  readonly retryAfterSeconds?: number
}

/** What the browser keeps from then on. `session`: the token of a new one, or none any more. */
export interface Keeping {
  readonly session?: { readonly token: string } | 'ended'
  /** The same of an operator, whose session is apart. */
  readonly operatorSession?: { readonly token: string } | 'ended'
  /** As `SessionOf` says; it goes after ten minutes. */
  readonly attempt?: { readonly token: string } | 'ended'
}

/** A file of comma-separated values. */
export interface Download {
  readonly fileName: string
  readonly rows: AsyncIterable<readonly Cell[]> | Iterable<readonly Cell[]>
}

/** Another page, below the portal, after something was done. */
export interface GoTo extends Keeping {
  readonly goTo: string
}

/** A page of another host. */
export interface Leave extends Keeping {
  readonly leaveTo: URL
}

/** Not found: what is not there and what is another account's look the same (P-10). */
export type Answer = View | GoTo | Leave | Download | 'not-found'

interface Shown<V> {
  /** Exact, with `:name` for one segment. */
  readonly path: string
  readonly show: (visit: V) => Answer | Promise<Answer>
  /** What its forms do; left out: it has none. */
  readonly submit?: (visit: V, fields: Fields) => Answer | Promise<Answer>
  /** Its forms may bring a file; left out: they may not. */
  readonly takesFile?: boolean
  /** It is a file to be kept, and no page. */
  readonly isFile?: boolean
}

/** `isForm`: there is nothing on the page but its form, so that no link leads whoever may not use it there. */
interface Changing {
  readonly changes: HolderChange
  readonly isForm?: boolean
}

/** `changes`: what its forms do at the most; whoever may not do it is shown no form, and is refused. */
type OfHolder =
  | (Omit<Shown<HolderVisit>, 'submit'> & {
      readonly submit?: undefined
      readonly changes?: undefined
      readonly isForm?: undefined
    })
  | (Shown<HolderVisit> & Changing)

/** A page, with who may see it. */
export type Page =
  | (Shown<Visit> & { readonly who: 'anybody' })
  | (OfHolder & { readonly who: 'holder' })
  | (Shown<OperatorVisit> & { readonly who: 'operator' })

export const forAnybody = (page: Shown<Visit>): Page => ({ ...page, who: 'anybody' })
export const forHolders = (page: OfHolder): Page => ({ ...page, who: 'holder' })
export const forOperators = (page: Shown<OperatorVisit>): Page => ({ ...page, who: 'operator' })
