import { forHolders, type HolderVisit } from '../../page.ts'
import { securityPage, type OwnSecurity } from '../session/security-area.tsx'
import { SettingsTabs } from './settings-tabs.tsx'

function ownOf(visit: HolderVisit): OwnSecurity {
  const { gateway, account, user, session, browser, network, comesFrom } = visit
  const own = { account, user }
  return {
    session,
    sessions: () => gateway.queries.listSessions(own),
    endOthers: () => gateway.commands.endOtherSessions(own, session.id),
    changePassword: (password, newPassword) => {
      const pair = { user: user?.email ?? account.login, password, network, address: browser.address, comesFrom }
      return gateway.commands.changePassword(pair, newPassword, browser)
    },
    keep: (opened) => ({ session: opened }),
    factor: () => gateway.queries.findSecondFactor(own),
    isFactorRequired: () => gateway.queries.isSecondFactorRequired(own),
    beginFactor: (password) =>
      gateway.commands.beginSecondFactor(own, { password, network, address: browser.address, comesFrom }),
    setFactor: (challenge, code) => gateway.commands.setSecondFactor(own, challenge, code),
    renewCodes: (code) => gateway.commands.renewRecoveryCodes(own, code),
    removeFactor: (code) => gateway.commands.removeSecondFactor(own, code),
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
