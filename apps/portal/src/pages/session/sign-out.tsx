import { Form, Main } from '../../components.tsx'
import { forHolders } from '../../page.ts'

/** `/sign-out` */
export const signOut = forHolders({
  path: '/sign-out',
  show: () => ({
    title: 'Sign out',
    main: (
      <div class="narrow">
        <h1>Sign out</h1>
        <Form to="/sign-out">
          <Main>Sign out</Main>
        </Form>
      </div>
    ),
  }),
  async submit({ gateway, account, session }) {
    await gateway.endSession(account, session.id)
    return { goTo: '/sign-in', session: 'ended' }
  },
})
