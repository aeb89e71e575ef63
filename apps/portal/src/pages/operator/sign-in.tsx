import { Link } from '../../components.tsx'
import { forOperators } from '../../page.ts'
import { signInPage, signOutView } from '../session/sign-in-area.tsx'

/** Returns the given path if it is a page of operators, else their first page. */
export const operatorPath = (to: string): string => (/^\/operator(?:[/?][\w/?=&.%-]*)?$/.test(to) ? to : '/operator')

/** `/operator/sign-in`: signs operators in with name and password. */
export const operatorSignIn = signInPage({
  path: '/operator/sign-in',
  title: 'Sign in as an operator',
  nameLabel: 'Name',
  note: (
    <>
      Operators are added on the command line: <code>gateway operator add NAME --role admin</code>
    </>
  ),
  otherWay: ({ oidc }, to) =>
    oidc && (
      <p class="actions">
        <Link class="button second" to={`/operator/sign-in/provider?to=${encodeURIComponent(to)}`}>
          Sign in with {oidc.host}
        </Link>
      </p>
    ),
  pathWithin: operatorPath,
  isOpen: ({ operators }) => operators !== undefined,
  open: async ({ operators, browser, network }, name, password) =>
    (await operators?.signIn.commands.signInOperator({ name, password, network, address: browser.address }, browser)) ??
    'wrong-credentials',
  openWithCode: async ({ operators, browser }, challenge, code) =>
    (await operators?.signIn.commands.signInOperatorWithCode(challenge, code, browser)) ?? 'over',
  keep: (operatorSession) => ({ operatorSession }),
})

/** `/operator/sign-out`: ends the session of an operator. */
export const operatorSignOut = forOperators({
  path: '/operator/sign-out',
  show: () => signOutView('/operator/sign-out'),
  async submit({ backOffice, operator, session }) {
    if (session.actsAs !== undefined)
      await backOffice.commands.endActingAs(session.actsAs.account, operator.id, session.id)
    await backOffice.commands.endOperatorSessions(operator.id, session.id)
    return { goTo: '/operator/sign-in', operatorSession: 'ended' }
  },
})
