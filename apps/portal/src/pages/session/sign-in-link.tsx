import { Form, Hidden, Link, Main } from '../../components.tsx'
import { forAnybody, type View } from '../../page.ts'

const view = (token: string): View => ({
  title: 'Sign in',
  main: (
    <div class="narrow">
      <h1>Sign in</h1>
      <Form to="/link" class="panel">
        <Hidden name="link" value={token} />
        <p>This link signs you in once. Afterwards you sign in with login and password.</p>
        <Main>Sign in</Main>
      </Form>
    </div>
  ),
})

const used: View = {
  title: 'This link was already used',
  status: 401,
  main: (
    <div class="narrow">
      <h1>This link was already used, or is too old</h1>
      <p>
        A link works once, within an hour. <Link to="/sign-in">Sign in with login and password</Link>
      </p>
    </div>
  ),
}

/** `/link?token=`: shows a button that signs in, because programs that follow links must not use them up. */
export const signInLink = forAnybody({
  path: '/link',
  show: ({ query }) => view(query.get('token') ?? ''),
  async submit({ gateway, browser }, fields) {
    const opened = await gateway.commands.signInByLink(fields.text('link'), browser)
    return opened === 'wrong-credentials' ? used : { goTo: '/', session: opened }
  },
})
