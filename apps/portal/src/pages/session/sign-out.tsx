import { forHolders } from '../../page.ts'
import { signOutView } from './sign-in-area.tsx'

/** `/sign-out`: ends the session of an account holder. */
export const signOut = forHolders({
  path: '/sign-out',
  show: () => signOutView('/sign-out'),
  changes: 'endSession',
  async submit({ gateway, account, user, session }) {
    await gateway.commands.endSession({ account, user }, session.id)
    return { goTo: '/sign-in', session: 'ended' }
  },
})
