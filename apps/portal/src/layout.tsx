import { mayHolder } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import type { HolderRole, Operator, SignedIn } from '@gateway/core/people'
import type { Instant } from '@gateway/core/time'
import type { ComponentChildren } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { Form, Link, Second, Surrounded, When } from './components.tsx'
import { amount } from './format.ts'
import type { Place, View } from './page.ts'

/** Operator who views the portal as an account, and when this ends at the latest. */
export interface Acting {
  readonly name: string
  readonly until: Instant
}

interface LookedAt extends Pick<SignedIn, 'account' | 'balance' | 'user'> {
  readonly role: HolderRole
  readonly acting?: Acting | undefined
}

/** Data that every page shows around its own content. */
export interface Frame {
  readonly base: string
  readonly token: string
  readonly now: Instant
  readonly signedIn: LookedAt | undefined
  /** True if the reader's role may submit the form at this path. */
  readonly mayPost: (path: string) => boolean
  readonly maySee: (path: string) => boolean
  readonly operator: Operator | undefined
  /** Links to pages outside the portal, shown in the footer of pages that need no sign-in. */
  readonly links: readonly PageLink[]
  /** Id of the request, shown on error pages so that the operator can find the request in the log. */
  readonly requestId?: string
}

export interface PageLink {
  readonly path: string
  readonly title: string
}

const places: readonly (readonly [place: Place, path: string, title: string])[] = [
  ['overview', '/', 'Overview'],
  ['send', '/send', 'Send'],
  ['sends', '/sends', 'Sends'],
  ['messages', '/messages', 'Messages'],
  ['inbox', '/inbox', 'Inbox'],
  ['opt-outs', '/opt-outs', 'Opt-outs'],
  ['statement', '/statement', 'Statement'],
  ['accounts', '/accounts', 'Accounts'],
  ['settings', '/settings/keys', 'Settings'],
]

const operatorPlaces: readonly (readonly [place: Place, path: string, title: string])[] = [
  ['now', '/operator', 'Now'],
  ['operator-accounts', '/operator/accounts', 'Accounts'],
  ['operator-messages', '/operator/messages', 'Messages'],
  ['carriers', '/operator/carriers', 'Carriers'],
  ['numbers', '/operator/numbers', 'Blocked numbers'],
  ['arrivals', '/operator/arrivals', 'Arrivals'],
  ['webhooks', '/operator/webhooks', 'Webhooks'],
  ['operator-smpp', '/operator/smpp', 'SMPP'],
  ['operators', '/operator/operators', 'Operators'],
  ['audit', '/operator/audit', 'Audit'],
  ['security', '/operator/security', 'Security'],
]

export const nameOf = ({ firstName, surname, login }: Account): string => `${firstName} ${surname}`.trim() || login

/** Returns the whole page as HTML. */
export const renderPage = (view: View, frame: Frame): string =>
  `<!doctype html>${renderToString(
    <Surrounded.Provider value={frame}>
      <Layout view={view} frame={frame} />
    </Surrounded.Provider>,
  )}`

function Layout({
  view: { title, main, place, live },
  frame: { base, signedIn, operator, links, requestId },
}: {
  view: View
  frame: Frame
}) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} – SMS gateway`}</title>
        <link rel="stylesheet" href={`${base}/assets/portal.css`} />
        <link rel="icon" href={`${base}/assets/icon.svg`} />
        <script type="module" src={`${base}/assets/portal.js`} />
      </head>
      <body {...(live === true && { 'data-follow': '' })}>
        <a class="skip" href="#main">
          Skip to content
        </a>
        {operator === undefined ? (
          <Header signedIn={signedIn} place={place} />
        ) : (
          <OperatorHeader operator={operator} place={place} />
        )}
        <main id="main" tabIndex={-1}>
          {main}
        </main>
        <footer>
          <p>
            Times are in GMT+2.<span id="own-zone"></span>
            {requestId !== undefined && <> Request {requestId}</>}
            {signedIn === undefined &&
              operator === undefined &&
              links.map(({ path, title: name }) => (
                <>
                  {' '}
                  <a href={path}>{name}</a>
                </>
              ))}
          </p>
          <p id="said" class="unseen" aria-live="polite"></p>
        </footer>
      </body>
    </html>
  )
}

function Header({ signedIn, place }: { signedIn: Frame['signedIn']; place: Place | undefined }) {
  if (signedIn === undefined) {
    return (
      <header>
        <div>
          <strong>SMS gateway</strong>
        </div>
      </header>
    )
  }
  const { account, balance, user, role, acting } = signedIn
  const isShown: Partial<Record<Place, boolean>> = {
    send: mayHolder(role, 'sendMessages'),
    accounts: account.parent === undefined,
  }
  return (
    <>
      {acting !== undefined && <ActingBanner of={acting} account={account} />}
      <SignedInHeader home="/" name={nameOf(account) + (user === undefined ? '' : `, ${user.email}`)} out="/sign-out">
        <span class="balance" id="balance" data-live="">
          {amount(balance)} credits
        </span>
      </SignedInHeader>
      <Places of={places.filter(([placeId]) => isShown[placeId] !== false)} current={place} />
    </>
  )
}

interface HeaderProps {
  readonly home: string
  readonly name: string
  /** Path to which the sign-out form is sent. */
  readonly out: string
  readonly children?: ComponentChildren
}

const SignedInHeader = ({ home, name, out, children }: HeaderProps) => (
  <header>
    <div>
      <strong>
        <Link to={home}>SMS gateway</Link>
      </strong>
      <span class="grow soft name">{name}</span>
      {children}
      <Form to={out}>
        <button type="submit" class="plain">
          Sign out
        </button>
      </Form>
    </div>
  </header>
)

/** Banner on every page that an operator views as an account, so that nobody forgets whose page it is. */
const ActingBanner = ({ of: { name, until }, account }: { of: Acting; account: Account }) => (
  <section class="acting" aria-label="You are viewing an account">
    <p>
      <strong>
        {name}, you are viewing account {account.id}.
      </strong>{' '}
      You see the pages that its owner sees, and cannot change anything. The visit is in the audit log and ends by
      itself at <When at={until} />.
    </p>
    <Form to="/operator/acting">
      <Second>Stop viewing</Second>
    </Form>
  </section>
)

const Places = ({ of, current }: { of: typeof places; current: Place | undefined }) => (
  <nav aria-label="Main">
    <ul>
      {of.map(([placeId, path, name]) => (
        <li key={placeId}>
          <Link to={path} current={placeId === current}>
            {name}
          </Link>
        </li>
      ))}
    </ul>
  </nav>
)

const OperatorHeader = ({ operator: { name, role }, place }: { operator: Operator; place: Place | undefined }) => (
  <>
    <SignedInHeader home="/operator" name={`${name}, ${role}`} out="/operator/sign-out" />
    <Places of={operatorPlaces} current={place} />
  </>
)
