import { newPasswordMin, type NewPasswordRefusal } from '@gateway/core/people'
import { Form, Hidden, Link, Main, ProblemSummary, TextField } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { forAnybody, type View } from '../../page.ts'

const view = (token: string, email: string, problems: Problems = {}): View => ({
  title: 'Choose a password',
  status: Object.keys(problems).length > 0 ? 422 : 200,
  main: (
    <div class="narrow">
      <h1>Choose a password</h1>
      <ProblemSummary problems={problems} />
      <Form to="/invitation" class="panel">
        <Hidden name="link" value={token} />
        <p>
          You sign in as <strong>{email}</strong>.
        </p>
        <TextField
          name="password"
          label="Password"
          hint={`At least ${newPasswordMin} characters.`}
          type="password"
          problems={problems}
          autocomplete="new-password"
        />
        <TextField
          name="again"
          label="Password again"
          type="password"
          problems={problems}
          autocomplete="new-password"
        />
        <Main>Set the password</Main>
      </Form>
    </div>
  ),
})

const over: View = {
  title: 'This link was already used',
  status: 401,
  main: (
    <div class="narrow">
      <h1>This link was already used, or is too old</h1>
      <p>
        A link is good once, within three days. Ask an owner of your account for another one, or{' '}
        <Link to="/sign-in">sign in</Link>.
      </p>
    </div>
  ),
}

const chosen: View = {
  title: 'Your password is set',
  main: (
    <div class="narrow">
      <h1>Your password is set</h1>
      <p>
        <Link to="/sign-in" class="button">
          Sign in
        </Link>
      </p>
    </div>
  ),
}

const WORDS: Readonly<Record<NewPasswordRefusal, string>> = {
  'too-short': `A password has at least ${newPasswordMin} characters.`,
  'too-common': 'Many people use this password, so it is guessed first. Choose another one.',
  'invalid-password': 'A password has at most 255 characters, and not only spaces.',
}

/** `/invitation?token=`: lets an invited person choose a password. Opening the page does not use the link up. */
export const invitation = forAnybody({
  path: '/invitation',
  async show({ gateway, query }) {
    const token = query.get('token') ?? ''
    const user = await gateway.queries.findInvited(token)
    return user === undefined ? { ...over, status: 200 } : view(token, user.email)
  },
  async submit({ gateway, holders, browser }, fields) {
    const token = fields.text('link')
    const user = await gateway.queries.findInvited(token)
    if (user === undefined) return over
    const [password, again] = [fields.trimmed('password'), fields.trimmed('again')]
    if (password !== again) return view(token, user.email, { again: 'The two passwords differ.' })
    const set = await holders.accept(token, password, browser.address)
    if (set === 'set') return chosen
    return set === 'over' ? over : view(token, user.email, { password: WORDS[set] })
  },
})
