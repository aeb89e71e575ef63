import type { CodeRequest, OpenedSession, RecoveryCodes, TooManyFailures } from '@gateway/core/people'
import type { ComponentChildren } from 'preact'
import { Form, Hidden, Link, Main, Notice, ProblemSummary, TextField } from '../../components.tsx'
import type { Fields, Problems } from '../../forms.ts'
import { forAnybody, type Answer, type Keeping, type Page, type View, type Visit } from '../../page.ts'
import { CodeField, recoveryCodesView, ScannedSecret } from './second-factor.tsx'

/** Sign-in of one kind of people: account holders or operators. Each kind has sessions of its own. */
export interface SignInArea {
  /** Path of the sign-in page. */
  readonly path: string
  readonly title: string
  /** Label of the field that identifies the person. */
  readonly nameLabel: string
  readonly nameHint?: string
  readonly note: ComponentChildren
  /** Another way to sign in, shown beside name and password. */
  readonly otherWay?: (visit: Visit, to: string) => ComponentChildren
  /**
   * Returns the page after signing in. This is `to` if `to` is a page for this kind of people, else their first page.
   */
  readonly pathWithin: (to: string) => string
  /** False if nobody can sign in here. */
  readonly isOpen: (visit: Visit) => boolean
  readonly open: (visit: Visit, name: string, password: string) => Promise<Opened>
  readonly openWithCode: (visit: Visit, challenge: string, code: string) => Promise<OpenedWithCode>
  /** Returns the cookies that keep the session in the browser. */
  readonly keep: (session: OpenedSession) => Keeping
}

export type Opened =
  OpenedSession | CodeRequest | 'wrong-credentials' | 'account-locked' | 'overloaded' | TooManyFailures
export type OpenedWithCode = (OpenedSession & Partial<RecoveryCodes>) | 'wrong-code' | 'over' | TooManyFailures

interface EnteredSignIn {
  readonly to: string
  readonly name?: string
  readonly problems?: Problems
  readonly status?: View['status']
  /** True if a submitted form was lost because the session had ended. */
  readonly isFormLost?: boolean
}

const view = (area: SignInArea, visit: Visit, entered: EnteredSignIn): View => {
  const { path, title, nameLabel, nameHint, note } = area
  const { to, name = '', problems = {}, status = 200 } = entered
  return {
    title,
    status,
    main: (
      <div class="narrow">
        <h1>{title}</h1>
        {entered.isFormLost === true && (
          <Notice tone="wait">
            <strong>You were signed out before the form was sent.</strong> Nothing was sent, changed or charged. Sign in
            to return to its page.
          </Notice>
        )}
        <ProblemSummary problems={problems} />
        <Form to={path} class="panel">
          <Hidden name="to" value={to} />
          <TextField
            name="login"
            label={nameLabel}
            {...(nameHint !== undefined && { hint: nameHint })}
            value={name}
            problems={problems}
            autocomplete="username"
          />
          <TextField
            name="password"
            label="Password"
            type="password"
            problems={problems}
            autocomplete="current-password"
          />
          <Main>Sign in</Main>
        </Form>
        {area.otherWay?.(visit, to)}
        <p class="soft">{note}</p>
      </div>
    ),
  }
}

/** Second step: asks for a code of the authenticator app, or shows a new secret and asks for its first code. */
export const codeView = (
  { path }: Pick<SignInArea, 'path'>,
  { to, challenge, toSetUp }: CodeRequest & { readonly to: string },
  problems: Problems = {},
  status: View['status'] = 200,
): View => ({
  title: 'Enter a code',
  status,
  main: (
    <div class="narrow">
      <h1>Enter a code</h1>
      <ProblemSummary problems={problems} />
      <Form to={path} class="panel">
        <Hidden name="to" value={to} />
        <Hidden name="challenge" value={challenge} />
        {toSetUp !== undefined && (
          <>
            <p>A second factor is required. Set it up now. From then on, each sign-in asks for a code.</p>
            <ScannedSecret of={toSetUp} />
          </>
        )}
        <CodeField problems={problems} />
        <Main>Sign in</Main>
      </Form>
      <p class="soft">
        <Link to={path}>Begin again</Link>
      </p>
    </div>
  ),
})

const tooMany = ({ retryAfterSeconds }: TooManyFailures): string =>
  `There were too many failed log-ins. Try again in ${retryAfterSeconds} seconds.`

/** Sign-in page. Failed attempts count together with failed attempts on the interfaces (ruling 1.26). */
export const signInPage = (area: SignInArea): Page =>
  forAnybody({
    path: area.path,
    show: (visit) => {
      if (!area.isOpen(visit)) return 'not-found'
      const to = area.pathWithin(visit.query.get('to') ?? '')
      return view(area, visit, { to, isFormLost: visit.query.get('ended') === 'form' })
    },
    submit(visit, fields) {
      if (!area.isOpen(visit)) return 'not-found'
      return fields.text('challenge') === '' ? withPassword(area, visit, fields) : withCode(area, visit, fields)
    },
  })

async function withPassword(area: SignInArea, visit: Visit, fields: Fields): Promise<Answer> {
  const [name, password] = [fields.trimmed('login'), fields.trimmed('password')]
  const to = area.pathWithin(fields.text('to'))
  const again = (problems: Problems, status: View['status'] = 422) => view(area, visit, { to, name, problems, status })
  const label = area.nameLabel.toLowerCase()
  if (name === '') return again({ login: `Enter your ${label}.` })
  if (password === '') return again({ password: 'Enter your password.' })

  const opened = await area.open(visit, name, password)
  if (opened === 'wrong-credentials') return again({ login: `${area.nameLabel} or password is wrong.` }, 401)
  if (opened === 'account-locked') return again({ login: 'This account is locked. Ask its operator.' }, 403)
  if (opened === 'overloaded') {
    return {
      ...again({ login: 'Too many people are signing in at this moment. Try again.' }, 503),
      retryAfterSeconds: 2,
    }
  }
  if ('token' in opened) return { goTo: to, ...area.keep(opened) }
  if ('challenge' in opened) return codeView(area, { to, ...opened })
  return { ...again({ login: tooMany(opened) }, 429), retryAfterSeconds: opened.retryAfterSeconds }
}

async function withCode(area: SignInArea, visit: Visit, fields: Fields): Promise<Answer> {
  const [challenge, code] = [fields.text('challenge'), fields.trimmed('code')]
  const to = area.pathWithin(fields.text('to'))
  const again = (problem: string, status: View['status']) =>
    codeView(area, { to, challenge }, { code: problem }, status)
  if (code === '') return again('Enter the code that the app shows.', 422)

  const opened = await area.openWithCode(visit, challenge, code)
  if (opened === 'wrong-code') return again('This code is wrong or was already used. Enter the next one.', 401)
  if (opened === 'over')
    return view(area, visit, { to, problems: { login: 'That took too long. Begin again.' }, status: 401 })
  if ('retryAfterSeconds' in opened) {
    return { ...again(tooMany(opened), 429), retryAfterSeconds: opened.retryAfterSeconds }
  }
  const { recoveryCodes } = opened
  if (recoveryCodes === undefined) return { goTo: to, ...area.keep(opened) }
  return { ...recoveryCodesView({ recoveryCodes }, to), ...area.keep(opened) }
}

/** Page with a sign-out button, for visitors who follow a link to sign out. */
export const signOutView = (path: string): View => ({
  title: 'Sign out',
  main: (
    <div class="narrow">
      <h1>Sign out</h1>
      <Form to={path}>
        <Main>Sign out</Main>
      </Form>
    </div>
  ),
})
