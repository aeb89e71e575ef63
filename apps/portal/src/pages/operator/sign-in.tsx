import { Form, Hidden, Main, ProblemSummary, TextField } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { forAnybody, forOperators, type View } from '../../page.ts'

/** Only to a page of operators. */
const pathWithin = (to: string): string => (/^\/operator(?:[/?][\w/?=&.%-]*)?$/.test(to) ? to : '/operator')

interface Given {
  readonly to: string
  readonly name?: string
  readonly problems?: Problems
  readonly status?: View['status']
}

const view = ({ to, name = '', problems = {}, status = 200 }: Given): View => ({
  title: 'Sign in as an operator',
  status,
  main: (
    <div class="narrow">
      <h1>Sign in as an operator</h1>
      <ProblemSummary problems={problems} />
      <Form to="/operator/sign-in" class="panel">
        <Hidden name="to" value={to} />
        <TextField name="name" label="Name" value={name} problems={problems} autocomplete="username" />
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
        Operators are added on the command line: <code>gateway operator add NAME --role admin</code>
      </p>
    </div>
  ),
})

/** `/operator/sign-in`: with name and password; failures count as those of account holders (ruling 1.26). */
export const operatorSignIn = forAnybody({
  path: '/operator/sign-in',
  show: ({ query, operators }) =>
    operators === undefined ? 'not-found' : view({ to: pathWithin(query.get('to') ?? '') }),
  async submit({ operators, browser, network }, fields) {
    if (operators === undefined) return 'not-found'
    const [name, password] = [fields.trimmed('name'), fields.trimmed('password')]
    const to = pathWithin(fields.text('to'))
    const again = (problems: Problems, status: View['status'] = 422) => view({ to, name, problems, status })
    if (name === '') return again({ name: 'Enter your name.' })
    if (password === '') return again({ password: 'Enter your password.' })

    const pair = { name, password, network, address: browser.address }
    const opened = await operators.signIn.signInOperator(pair, browser)
    if (opened === 'wrong-credentials') return again({ name: 'Name or password is wrong.' }, 401)
    if (opened === 'overloaded') {
      return { ...again({ name: 'Too many people sign in at this moment. Try again.' }, 503), retryAfterSeconds: 2 }
    }
    if ('token' in opened) return { goTo: to, operatorSession: opened }
    const { retryAfterSeconds } = opened
    const problem = `There were too many failed log-ins. Try again in ${retryAfterSeconds} seconds.`
    return { ...again({ name: problem }, 429), retryAfterSeconds }
  },
})

/** `/operator/sign-out` */
export const operatorSignOut = forOperators({
  path: '/operator/sign-out',
  show: () => ({
    title: 'Sign out',
    main: (
      <div class="narrow">
        <h1>Sign out</h1>
        <Form to="/operator/sign-out">
          <Main>Sign out</Main>
        </Form>
      </div>
    ),
  }),
  async submit({ backOffice, operator, session }) {
    await backOffice.endOperatorSessions(operator.id, session.id)
    return { goTo: '/operator/sign-in', operatorSession: 'ended' }
  },
})
