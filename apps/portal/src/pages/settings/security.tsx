import { forHolders, type HolderVisit } from '../../page.ts'
import { securityPage, type OwnSecurity } from '../session/security-area.tsx'
import { SettingsTabs } from './settings-tabs.tsx'

function ownOf(visit: HolderVisit): OwnSecurity {
  const { gateway, account, user, session, browser, network, comesFrom } = visit
  const own = { account, user }
  return {
    session,
    sessions: () => gateway.listSessions(own),
    endOthers: () => gateway.endOtherSessions(own, session.id),
    changePassword: (password, wanted) => {
      const pair = { user: user?.email ?? account.login, password, network, address: browser.address, comesFrom }
      return gateway.changePassword(pair, wanted, browser)
    },
    keep: (opened) => ({ session: opened }),
    factor: () => gateway.findSecondFactor(own),
    isFactorRequired: () => gateway.isSecondFactorRequired(own),
    beginFactor: (password) =>
      gateway.beginSecondFactor(own, { password, network, address: browser.address, comesFrom }),
    setFactor: (challenge, code) => gateway.setSecondFactor(own, challenge, code),
    renewCodes: (code) => gateway.renewRecoveryCodes(own, code),
    removeFactor: (code) => gateway.removeSecondFactor(own, code),
  }
}

/** `/settings/security`: changes the password and second factor, and ends sessions. */
export const security = forHolders({
  changes: 'changePassword',
  ...securityPage({
    path: '/settings/security',
    place: 'settings',
    head: (
      <>
        <h1>Settings</h1>
        <SettingsTabs at="/settings/security" />
      </>
    ),
    passwordHint: ({ user }) =>
      user === undefined ? 'The query-string and XML interfaces use the same password.' : 'Only you use this password.',
    of: ownOf,
  }),
})
