import type { BackOffice, Gateway, HolderAccess, HolderCommand, OperatorAccess } from '@gateway/core'
import type { Account, ComesFrom } from '@gateway/core/accounts'
import type { Credits } from '@gateway/core/credits'
import type { HolderRole, Browser, Operator, OperatorSession, Session, User } from '@gateway/core/people'
import type { Instant } from '@gateway/core/time'
import type { Cell } from '@gateway/wire'
import type { VNode } from 'preact'
import type { Fields } from './forms.ts'
import type { OidcProvider } from './oidc.ts'

/** Request for a page, with its context. */
export interface Visit {
  readonly gateway: Gateway
  readonly holders: HolderAccess
  /** Access of operators, or undefined if operators cannot sign in at this portal. */
  readonly operators: OperatorAccess | undefined
  readonly now: Instant
  /** Values of the `:name` segments of the path. */
  readonly parameters: Readonly<Record<string, string | undefined>>
  readonly query: URLSearchParams
  readonly browser: Browser
  readonly network: string
  readonly comesFrom: ComesFrom
  /** OpenID provider at which operators may sign in too. */
  readonly oidc: OidcProvider | undefined
  /** Address of this page as the browser sees it, or undefined if the request names no host. */
  readonly here: URL | undefined
  /** Token of the `attempt` cookie. A `Leave` response has set this cookie. */
  readonly attempt: string | undefined
}

/** Visit of a signed-in account holder. Pages read and change this account and no other. */
export interface HolderVisit extends Visit {
  /** Gateway that refuses all actions that the role may not do, and records every change in the audit log. */
  readonly gateway: Gateway
  readonly account: Account
  /** User who signed in, or undefined if the account's own password was used. */
  readonly user: User | undefined
  readonly role: HolderRole
  readonly balance: Credits
  readonly session: Pick<Session, 'id'>
}

/**
 * Visit of a signed-in operator, who may see everything. The back office refuses changes that the role does not allow.
 */
export interface OperatorVisit extends Visit {
  readonly backOffice: BackOffice
  readonly operator: Operator
  readonly session: OperatorSession
}

/** Entry of the navigation row below the header. */
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
  | 'operator-smpp'
  | 'operators'
  | 'security'
  | 'audit'

export interface View extends Keeping {
  readonly title: string
  readonly main: VNode
  readonly place?: Place
  /** HTTP status, 200 by default. 422 if a form was filled in wrongly. */
  readonly status?: 200 | 400 | 401 | 403 | 404 | 413 | 422 | 429 | 500 | 503
  /**
   * True while marked elements of the page may change without the reader doing anything. If omitted, the page is
   * static.
   */
  readonly live?: boolean
  readonly retryAfterSeconds?: number
}

/** Cookies that the response sets or clears. `session` holds the token of a new session, or 'ended'. */
export interface Keeping {
  readonly session?: { readonly token: string } | 'ended'
  /** Session of an operator, which has a cookie of its own. */
  readonly operatorSession?: { readonly token: string } | 'ended'
  /** Pending sign-in at an OpenID provider, which expires after ten minutes. See `SessionOf`. */
  readonly attempt?: { readonly token: string } | 'ended'
}

/** Download of a file of comma-separated values. */
export interface Download {
  readonly fileName: string
  readonly rows: AsyncIterable<readonly Cell[]> | Iterable<readonly Cell[]>
}

/** Redirect to another page of the portal after a change. */
export interface GoTo extends Keeping {
  readonly goTo: string
}

/** Redirect to a page of another host. */
export interface Leave extends Keeping {
  readonly leaveTo: URL
}

/**
 * Result of a page. 'not-found' stands for an object that does not exist and for an object of another account. Both
 * must look the same (P-10).
 */
export type Answer = View | GoTo | Leave | Download | 'not-found'

interface Shown<V> {
  /** Exact path, in which `:name` stands for one segment. */
  readonly path: string
  readonly show: (visit: V) => Answer | Promise<Answer>
  /** Handles the forms of the page. Omitted if the page has no form. */
  readonly submit?: (visit: V, fields: Fields) => Answer | Promise<Answer>
  /** True if a form of the page may upload a file. */
  readonly takesFile?: boolean
  /** True if the response is a file to download instead of a page. */
  readonly isFile?: boolean
}

/**
 * Change that the forms of a page make. With `isForm` the page consists only of a form. Links to it are then hidden
 * from readers who may not submit the form.
 */
interface Changing {
  readonly changes: HolderCommand
  readonly isForm?: boolean
}

/**
 * Page of account holders. A reader whose role may not make the change in `changes` sees no form, and a submission is
 * refused.
 */
type OfHolder =
  | (Omit<Shown<HolderVisit>, 'submit'> & {
      readonly submit?: undefined
      readonly changes?: undefined
      readonly isForm?: undefined
    })
  | (Shown<HolderVisit> & Changing)

/** Page, with the kind of visitor who may see it. */
export type Page =
  | (Shown<Visit> & { readonly audience: 'anybody' })
  | (OfHolder & { readonly audience: 'holder' })
  | (Shown<OperatorVisit> & { readonly audience: 'operator' })

export const forAnybody = (page: Shown<Visit>): Page => ({ ...page, audience: 'anybody' })
export const forHolders = (page: OfHolder): Page => ({ ...page, audience: 'holder' })
export const forOperators = (page: Shown<OperatorVisit>): Page => ({ ...page, audience: 'operator' })
