import { Link } from '../../components.tsx'
import type { ProviderRefusal } from '../../oidc.ts'
import { forAnybody, type GoTo, type View, type Visit } from '../../page.ts'
import { codeView } from '../session/sign-in-area.tsx'
import { operatorPath } from './sign-in.tsx'

const signInPath = '/operator/sign-in'

const refused = (status: NonNullable<View['status']>, text: string): View => ({
  title: 'You are not signed in',
  status,
  ...(status === 503 && { retryAfterSeconds: 5 }),
  main: (
    <div class="narrow">
      <h1>You are not signed in</h1>
      <p>{text}</p>
      <p>
        <Link to={signInPath}>Begin again</Link>
      </p>
    </div>
  ),
})

const WORDS: Readonly<Record<ProviderRefusal, readonly [status: NonNullable<View['status']>, text: string]>> = {
  unreachable: [503, 'The provider cannot be reached at this moment.'],
  busy: [503, 'Too many people sign in at this moment.'],
  'begun-elsewhere': [401, 'The sign-in was not started in this browser, or took longer than ten minutes.'],
  denied: [401, 'The provider denied the sign-in.'],
  refused: [401, 'The response of the provider could not be verified. The log of the gateway has the reason.'],
  'no-name': [403, 'The provider does not send the claim with your operator name (OIDC_CLAIM).'],
  unverified: [403, 'The provider has not verified your e-mail address.'],
}

/** `/operator/sign-in/provider`: redirects to the OpenID provider. */
export const providerSignIn = forAnybody({
  path: `${signInPath}/provider`,
  async show({ operators, oidc, here, query }) {
    if (operators === undefined || oidc === undefined || here === undefined) return 'not-found'
    const begun = await oidc.begin(new URL('answer', here), operatorPath(query.get('to') ?? ''))
    if (begun === 'unreachable') return refused(...WORDS[begun])
    return { leaveTo: begun.leaveTo, attempt: { token: begun.token } }
  },
})

/** `/operator/sign-in/answer`: receives the redirect back from the provider. Signing in creates no operators. */
export const providerAnswer = forAnybody({
  path: `${signInPath}/answer`,
  async show(visit) {
    const { operators, oidc, here, attempt } = visit
    if (operators === undefined || oidc === undefined || here === undefined) return 'not-found'
    const named = await oidc.finish(here, attempt)
    const answer =
      typeof named === 'string'
        ? refused(...WORDS[named])
        : await signIn(visit, operators, named.name, operatorPath(named.to))
    return attempt === undefined ? answer : { ...answer, attempt: 'ended' }
  },
})

async function signIn(
  { browser, oidc }: Visit,
  { signIn: area }: NonNullable<Visit['operators']>,
  name: string,
  to: string,
): Promise<View | GoTo> {
  const opened = await area.commands.signInNamedOperator(name, browser)
  if (opened === 'wrong-credentials')
    return refused(403, `${oidc?.host} says that you are ${name}. No operator of this name may sign in here.`)
  if ('challenge' in opened) return codeView({ path: signInPath }, { to, ...opened })
  return { goTo: to, operatorSession: opened }
}
