import { forHolders } from '../../page.ts'
import { signOutView } from './sign-in-area.tsx'

/** `/sign-out` */
export const signOut = forHolders({
  path: '/sign-out',
  show: () => signOutView('/sign-out'),
  async submit({ gateway, account, session }) {
    await gateway.endSession(account, session.id)
    return { goTo: '/sign-in', session: 'ended' }
  },
})
