import { signInPage } from './sign-in-area.tsx'

/** `/sign-in`: of account holders, with login and password. */
export const signIn = signInPage({
  path: '/sign-in',
  title: 'Sign in',
  nameLabel: 'Login',
  nameHint: 'That of the account, or your e-mail address',
  note: 'Who has forgotten the password asks an owner of the account for a new link, or the operator of the gateway.',
  // What begins with two slashes is another host.
  pathWithin: (to) => (/^\/(?![/\\])[\w/?=&.%-]*$/.test(to) ? to : '/'),
  isOpen: () => true,
  open: ({ gateway, browser, network, comesFrom }, user, password) =>
    gateway.signIn({ user, password, network, address: browser.address, comesFrom }, browser),
  openWithCode: ({ gateway, browser }, challenge, code) => gateway.signInWithCode(challenge, code, browser),
  keep: (session) => ({ session }),
})
