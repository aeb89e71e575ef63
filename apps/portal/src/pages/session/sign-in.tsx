import { Form, Hidden, Main, ProblemSummary, TextField } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { forAnybody, type View } from '../../page.ts'

/** Only to a page of ours: what begins with two slashes is another host. */
const pathWithin = (to: string): string => (/^\/(?![/\\])[\w/?=&.%-]*$/.test(to) ? to : '/')

interface Given {
  readonly to: string
  readonly login?: string
  readonly problems?: Problems
  readonly status?: View['status']
}

const view = ({ to, login = '', problems = {}, status = 200 }: Given): View => ({
  title: 'Sign in',
  status,
  main: (
    <div class="narrow">
      <h1>Sign in</h1>
      <ProblemSummary problems={problems} />
      <Form to="/sign-in" class="panel">
        <Hidden name="to" value={to} />
        <TextField name="login" label="Login" value={login} problems={problems} autocomplete="username" />
        <TextField
          name="password"
          label="Password"
          type="password"
          problems={problems}
          autocomplete="current-password"
        />
        <Main>Sign in</Main>
      </Form>
      <p class="soft">
        Login and password are those of your account. The operator of the gateway can set a new password.
      </p>
    </div>
  ),
})

/** `/sign-in`: with login and password; failures count as those of the interfaces (ruling 1.26). */
export const signIn = forAnybody({
  path: '/sign-in',
  show: ({ query }) => view({ to: pathWithin(query.get('to') ?? '/') }),
  async submit({ gateway, browser, network, comesFrom }, fields) {
    const [login, password] = [fields.trimmed('login'), fields.trimmed('password')]
    const to = pathWithin(fields.text('to'))
    const again = (problems: Problems, status: View['status'] = 422) => view({ to, login, problems, status })
    if (login === '') return again({ login: 'Enter your login.' })
    if (password === '') return again({ password: 'Enter your password.' })

    const pair = { user: login, password, network, address: browser.address, comesFrom }
    const opened = await gateway.signIn(pair, browser)
    if (opened === 'wrong-credentials') return again({ login: 'Login or password is wrong.' }, 401)
    if (opened === 'account-locked') return again({ login: 'This account is locked. Ask its operator.' }, 403)
    if (opened === 'overloaded') {
      return { ...again({ login: 'Too many people sign in at this moment. Try again.' }, 503), retryAfterSeconds: 2 }
    }
    if ('token' in opened) return { goTo: to, session: opened }
    const { retryAfterSeconds } = opened
    const problem = `There were too many failed log-ins. Try again in ${retryAfterSeconds} seconds.`
    return { ...again({ login: problem }, 429), retryAfterSeconds }
  },
})
