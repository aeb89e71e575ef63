import {
  newPasswordMin,
  type CodeRefusal,
  type FactorToSetUp,
  type NewPasswordRefusal,
  type OpenedSession,
  type RecoveryCodes,
  type SecondFactor,
  type Session,
  type TooManyFailures,
} from '@gateway/core/people'
import type { VNode } from 'preact'
import { Form, Hidden, Main, Notice, Panel, ProblemSummary, Second, Table, TextField, When } from '../../components.tsx'
import type { Fields, Problems } from '../../forms.ts'
import type { Answer, Keeping, Place, View, Visit } from '../../page.ts'
import { CodeField, recoveryCodesView, ScannedSecret } from './second-factor.tsx'

/** Security page of one kind of people: account holders or operators. */
export interface SecurityArea<V extends Visit> {
  readonly path: string
  readonly place: Place
  readonly head: VNode
  readonly passwordHint?: (visit: V) => string
  readonly of: (visit: V) => OwnSecurity
}

/** Operations on the visitor's own password, second factor and sessions. */
export interface OwnSecurity {
  readonly session: Pick<Session, 'id'>
  readonly sessions: () => Promise<readonly Omit<Session, 'account' | 'user'>[]>
  readonly endOthers: () => Promise<unknown>
  readonly changePassword: (
    password: string,
    newPassword: string,
  ) => Promise<OpenedSession | 'wrong-credentials' | NewPasswordRefusal | 'overloaded' | TooManyFailures>
  readonly keep: (session: OpenedSession) => Keeping
  readonly factor: () => Promise<SecondFactor | undefined>
  readonly isFactorRequired: () => Promise<boolean>
  readonly beginFactor: (
    password: string,
  ) => Promise<FactorToSetUp | 'already' | 'wrong-credentials' | 'overloaded' | TooManyFailures>
  readonly setFactor: (challenge: string, code: string) => Promise<RecoveryCodes | CodeRefusal | 'already' | 'over'>
  readonly renewCodes: (code: string) => Promise<RecoveryCodes | CodeRefusal>
  readonly removeFactor: (code: string) => Promise<'removed' | 'required' | CodeRefusal>
}

const done: Readonly<Record<string, string>> = {
  password: 'The password is changed, and all other sessions are signed out.',
  ended: 'The other sessions are signed out.',
  removed: 'The second factor is removed. Signing in requires only the password.',
}

/** Returns the common name of the browser according to its User-Agent header. */
function browserName(agent: string): string {
  const names = [
    [/Edg\//, 'Edge'],
    [/OPR\//, 'Opera'],
    [/Firefox\//, 'Firefox'],
    [/Chrome\//, 'Chrome'],
    [/Safari\//, 'Safari'],
  ] as const
  return names.find(([pattern]) => pattern.test(agent))?.[1] ?? 'another program'
}

async function view<V extends Visit>(
  area: SecurityArea<V>,
  visit: V,
  problems: Problems = {},
  status: View['status'] = 200,
): Promise<View> {
  const { path, place, head, passwordHint } = area
  const own = area.of(visit)
  const [sessions, factor, isRequired] = await Promise.all([own.sessions(), own.factor(), own.isFactorRequired()])
  const notice = done[visit.query.get('done') ?? '']
  return {
    title: 'Security',
    place,
    status,
    main: (
      <>
        {head}
        {notice !== undefined && <Notice>{notice}</Notice>}
        <ProblemSummary problems={problems} />
        <Form to={path} class="panel">
          <Hidden name="do" value="password" />
          <h2>Change the password</h2>
          {passwordHint !== undefined && <p class="hint">{passwordHint(visit)}</p>}
          <TextField
            name="password"
            label="Current password"
            type="password"
            problems={problems}
            autocomplete="current-password"
          />
          <TextField
            name="wanted"
            label="New password"
            hint={`At least ${newPasswordMin} characters.`}
            type="password"
            problems={problems}
            autocomplete="new-password"
          />
          <TextField
            name="again"
            label="New password again"
            type="password"
            problems={problems}
            autocomplete="new-password"
          />
          <Main>Change the password</Main>
        </Form>
        <FactorPanel path={path} factor={factor} isRequired={isRequired} problems={problems} />
        <Panel>
          <Table
            caption="Where you are signed in"
            rows={sessions}
            empty=""
            columns={[
              {
                head: 'Browser',
                cell: ({ id, agent }) => `${browserName(agent)}${id === own.session.id ? ' (this one)' : ''}`,
              },
              { head: 'From', cell: ({ address }) => address },
              { head: 'Since', cell: ({ opened }) => <When at={opened} /> },
              { head: 'Last used', cell: ({ used }) => <When at={used} /> },
            ]}
          />
          {sessions.length > 1 && (
            <Form to={path}>
              <Hidden name="do" value="end" />
              <Second>Sign out all others</Second>
            </Form>
          )}
        </Panel>
      </>
    ),
  }
}

interface FactorPanelProps {
  readonly path: string
  readonly factor: SecondFactor | undefined
  readonly isRequired: boolean
  readonly problems: Problems
}

function FactorPanel({ path, factor, isRequired, problems }: FactorPanelProps) {
  if (factor === undefined) {
    return (
      <Form to={path} class="panel">
        <Hidden name="do" value="begin-factor" />
        <h2>Second factor</h2>
        <p>
          You sign in with only the password. With a second factor, signing in also requires a code from an app on your
          phone.
        </p>
        <TextField
          name="factor-password"
          label="Your password"
          type="password"
          problems={problems}
          autocomplete="current-password"
        />
        <Second>Set up a second factor</Second>
      </Form>
    )
  }
  return (
    <Form to={path} class="panel">
      <h2>Second factor</h2>
      <p>
        It was set up on <When at={factor.since} />, and {factor.recoveryCodes} recovery codes are left.
        {isRequired && ' It is required and cannot be removed.'}
      </p>
      <CodeField problems={problems} />
      <div class="actions">
        <Second name="do" value="renew-codes">
          Make new recovery codes
        </Second>
        {!isRequired && (
          <Second name="do" value="remove-factor">
            Remove the second factor
          </Second>
        )}
      </div>
    </Form>
  )
}

const setUpView = (
  { path, place }: Pick<SecurityArea<Visit>, 'path' | 'place'>,
  challenge: string,
  secret: FactorToSetUp | undefined,
  problems: Problems = {},
): View => ({
  title: 'Set up a second factor',
  place,
  status: Object.keys(problems).length > 0 ? 422 : 200,
  main: (
    <div class="narrow">
      <h1>Set up a second factor</h1>
      <ProblemSummary problems={problems} />
      <Form to={path} class="panel">
        <Hidden name="do" value="set-factor" />
        <Hidden name="challenge" value={challenge} />
        {secret !== undefined && <ScannedSecret of={secret} />}
        <CodeField problems={problems} />
        <Main>Set it up</Main>
      </Form>
    </div>
  ),
})

const wrongCode = 'This code is wrong or was already used. Enter the next code that the app shows.'
const tooMany = ({ retryAfterSeconds }: TooManyFailures) =>
  `There were too many failed attempts. Try again in ${retryAfterSeconds} seconds.`

const passwordMissing = 'Enter your current password.'
const PASSWORD_PROBLEMS = {
  'wrong-credentials': 'This is not your password.',
  overloaded: 'The gateway is too busy. Nothing was changed. Try again.',
} as const

/** Page on which people change their password and second factor, and see and end their sessions. */
export const securityPage = <V extends Visit>(area: SecurityArea<V>) => ({
  path: area.path,
  show: (visit: V): Promise<View> => view(area, visit),
  async submit(visit: V, fields: Fields): Promise<Answer> {
    const own = area.of(visit)
    const act = fields.text('do')
    if (act === 'password') return changePassword(area, visit, fields)
    if (act === 'end') {
      await own.endOthers()
      return { goTo: `${area.path}?done=ended` }
    }
    if (act === 'begin-factor') return beginFactor(area, visit, fields)
    if (act === 'set-factor') return setFactor(area, own, fields)
    if (act === 'renew-codes' || act === 'remove-factor') return withCode(area, visit, fields, act)
    return 'not-found'
  },
})

async function beginFactor<V extends Visit>(area: SecurityArea<V>, visit: V, fields: Fields): Promise<Answer> {
  const again = (problem: string, status: View['status'] = 422) =>
    view(area, visit, { 'factor-password': problem }, status)
  const password = fields.trimmed('factor-password')
  if (password === '') return again(passwordMissing)
  const begun = await area.of(visit).beginFactor(password)
  if (begun === 'already') return view(area, visit)
  if (typeof begun === 'string') return again(PASSWORD_PROBLEMS[begun])
  if ('challenge' in begun) return setUpView(area, begun.challenge, begun)
  return { ...(await again(tooMany(begun), 429)), retryAfterSeconds: begun.retryAfterSeconds }
}

async function setFactor<V extends Visit>(area: SecurityArea<V>, own: OwnSecurity, fields: Fields): Promise<Answer> {
  const challenge = fields.text('challenge')
  const set = await own.setFactor(challenge, fields.text('code'))
  if (set === 'over' || set === 'already') return { goTo: area.path }
  if (set === 'wrong-code') return setUpView(area, challenge, undefined, { code: wrongCode })
  if ('retryAfterSeconds' in set) {
    const again = setUpView(area, challenge, undefined, { code: tooMany(set) })
    return { ...again, status: 429, retryAfterSeconds: set.retryAfterSeconds }
  }
  return recoveryCodesView(set, area.path, area.place)
}

async function withCode<V extends Visit>(
  area: SecurityArea<V>,
  visit: V,
  fields: Fields,
  act: 'renew-codes' | 'remove-factor',
): Promise<Answer> {
  const [own, code] = [area.of(visit), fields.text('code')]
  const result = act === 'renew-codes' ? await own.renewCodes(code) : await own.removeFactor(code)
  if (result === 'removed') return { goTo: `${area.path}?done=removed` }
  if (result === 'required') return view(area, visit, { code: 'A second factor is required.' }, 422)
  if (result === 'wrong-code') return view(area, visit, { code: wrongCode }, 422)
  if ('recoveryCodes' in result) return recoveryCodesView(result, area.path, area.place)
  const { retryAfterSeconds } = result
  return { ...(await view(area, visit, { code: tooMany(result) }, 429)), retryAfterSeconds }
}

async function changePassword<V extends Visit>(area: SecurityArea<V>, visit: V, fields: Fields): Promise<Answer> {
  const own = area.of(visit)
  const [password, newPassword] = [fields.trimmed('password'), fields.trimmed('wanted')]
  const again = (problems: Problems, status: View['status'] = 422) => view(area, visit, problems, status)
  if (password === '') return again({ password: passwordMissing })
  if (newPassword !== fields.trimmed('again')) return again({ again: 'The two new passwords differ.' })
  const changed = await own.changePassword(password, newPassword)
  if (typeof changed === 'object') {
    if ('token' in changed) return { goTo: `${area.path}?done=password`, ...own.keep(changed) }
    return { ...(await again({ password: tooMany(changed) }, 429)), retryAfterSeconds: changed.retryAfterSeconds }
  }
  return again(
    {
      'wrong-credentials': { password: PASSWORD_PROBLEMS['wrong-credentials'] },
      'too-short': { wanted: `A new password has at least ${newPasswordMin} characters.` },
      'too-common': { wanted: 'Many people use this password, so it is guessed first. Choose another one.' },
      'invalid-password': { wanted: 'A password has at most 255 characters, and not only spaces.' },
      overloaded: { password: PASSWORD_PROBLEMS.overloaded },
    }[changed],
  )
}
