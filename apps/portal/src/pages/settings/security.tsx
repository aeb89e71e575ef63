import { chosenPasswordMin, type Session } from '@gateway/core'
import { Form, Hidden, Main, Notice, Panel, ProblemSummary, Second, Table, TextField, When } from '../../components.tsx'
import type { Fields, Problems } from '../../forms.ts'
import { forHolders, type Answer, type HolderVisit, type View } from '../../page.ts'
import { SettingsTabs } from './settings-tabs.tsx'

const done: Readonly<Record<string, string>> = {
  password: 'The password is changed, and all other sessions are signed out.',
  ended: 'The other sessions are signed out.',
}

/** The browser by the name that people know, as far as it tells one. */
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

async function view(visit: HolderVisit, problems: Problems = {}, status: View['status'] = 200): Promise<View> {
  const { gateway, account, session, query } = visit
  const sessions = await gateway.listSessions(account)
  const said = done[query.get('done') ?? '']
  return {
    title: 'Security',
    place: 'settings',
    status,
    main: (
      <>
        <h1>Settings</h1>
        <SettingsTabs at="/settings/security" />
        {said !== undefined && <Notice>{said}</Notice>}
        <ProblemSummary problems={problems} />
        <Form to="/settings/security" class="panel">
          <Hidden name="do" value="password" />
          <h2>Change the password</h2>
          <p class="hint">It is that of the query-string and XML interfaces, too.</p>
          <TextField
            name="password"
            label="Password now"
            type="password"
            problems={problems}
            autocomplete="current-password"
          />
          <TextField
            name="wanted"
            label="New password"
            hint={`At least ${chosenPasswordMin} characters.`}
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
        <Panel>
          <Table<Session>
            caption="Where you are signed in"
            rows={sessions}
            empty=""
            columns={[
              {
                head: 'Browser',
                cell: ({ id, agent }) => `${browserName(agent)}${id === session.id ? ' (this one)' : ''}`,
              },
              { head: 'From', cell: ({ address }) => address },
              { head: 'Since', cell: ({ opened }) => <When at={opened} /> },
              { head: 'Last used', cell: ({ used }) => <When at={used} /> },
            ]}
          />
          {sessions.length > 1 && (
            <Form to="/settings/security">
              <Hidden name="do" value="end" />
              <Second>Sign out all others</Second>
            </Form>
          )}
        </Panel>
      </>
    ),
  }
}

/** `/settings/security`: the password, and where somebody is signed in. */
export const security = forHolders({
  path: '/settings/security',
  show: (visit) => view(visit),
  async submit(visit, fields) {
    if (fields.text('do') === 'password') return change(visit, fields)
    await visit.gateway.endOtherSessions(visit.account, visit.session.id)
    return { goTo: '/settings/security?done=ended' }
  },
})

async function change(visit: HolderVisit, fields: Fields): Promise<Answer> {
  const { gateway, account, browser, network, comesFrom } = visit
  const [password, wanted] = [fields.trimmed('password'), fields.trimmed('wanted')]
  if (password === '') return view(visit, { password: 'Enter the password that you have now.' }, 422)
  if (wanted !== fields.trimmed('again'))
    return view(visit, { again: 'This is not the same as the new password.' }, 422)
  const pair = { user: account.login, password, network, address: browser.address, comesFrom }
  const changed = await gateway.changePassword(pair, wanted, browser)
  if (typeof changed === 'object') {
    if ('token' in changed) return { goTo: '/settings/security?done=password', session: changed }
    const { retryAfterSeconds } = changed
    const problem = `There were too many wrong passwords. Try again in ${retryAfterSeconds} seconds.`
    return { ...(await view(visit, { password: problem }, 429)), retryAfterSeconds }
  }
  const problems = {
    'wrong-credentials': { password: 'This is not your password.' },
    'too-short': { wanted: `A new password has at least ${chosenPasswordMin} characters.` },
    'invalid-password': { wanted: 'A password has up to 255 characters, and more than spaces.' },
    overloaded: { password: 'The gateway has too much to do. Nothing was changed. Try again.' },
  }[changed]
  return view(visit, problems, 422)
}
