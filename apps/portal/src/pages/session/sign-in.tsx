import { signInPage } from './sign-in-area.tsx'

/** `/sign-in`: of account holders, with login and password. */
export const signIn = signInPage({
  path: '/sign-in',
  title: 'Sign in',
  nameLabel: 'Login',
  note: 'Login and password are those of your account. The operator of the gateway can set a new password.',
  // What begins with two slashes is another host.
  pathWithin: (to) => (/^\/(?![/\\])[\w/?=&.%-]*$/.test(to) ? to : '/'),
  isOpen: () => true,
  open: ({ gateway, browser, network, comesFrom }, user, password) =>
    gateway.signIn({ user, password, network, address: browser.address, comesFrom }, browser),
  openWithCode: ({ gateway, browser }, challenge, code) => gateway.signInWithCode(challenge, code, browser),
  keep: (session) => ({ session }),
})
