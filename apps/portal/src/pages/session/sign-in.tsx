import { signInPage } from './sign-in-area.tsx'

/** `/sign-in`: signs account holders in with login and password. */
export const signIn = signInPage({
  path: '/sign-in',
  title: 'Sign in',
  nameLabel: 'Login',
  nameHint: 'The login of the account, or your e-mail address',
  note: 'If you have forgotten the password, ask an owner of the account for a new link, or the operator of the gateway.',
  // A path that begins with two slashes would name another host.
  pathWithin: (to) => (/^\/(?![/\\])[\w/?=&.%-]*$/.test(to) ? to : '/'),
  isOpen: () => true,
  open: ({ gateway, browser, network, comesFrom }, user, password) =>
    gateway.commands.signIn({ user, password, network, address: browser.address, comesFrom }, browser),
  openWithCode: ({ gateway, browser }, challenge, code) => gateway.commands.signInWithCode(challenge, code, browser),
  keep: (session) => ({ session }),
})
