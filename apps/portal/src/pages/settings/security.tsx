import { forHolders, type HolderVisit } from '../../page.ts'
import { securityPage, type OwnSecurity } from '../session/security-area.tsx'
import { SettingsTabs } from './settings-tabs.tsx'

function ownOf(visit: HolderVisit): OwnSecurity {
  const { gateway, account, session, browser, network, comesFrom } = visit
  return {
    session,
    sessions: () => gateway.listSessions(account),
    endOthers: () => gateway.endOtherSessions(account, session.id),
    changePassword: (password, wanted) => {
      const pair = { user: account.login, password, network, address: browser.address, comesFrom }
      return gateway.changePassword(pair, wanted, browser)
    },
    keep: (opened) => ({ session: opened }),
    factor: () => gateway.findSecondFactor(account),
    isFactorRequired: () => gateway.isSecondFactorRequired(account),
    beginFactor: () => gateway.beginSecondFactor(account),
    setFactor: (challenge, code) => gateway.setSecondFactor(account, challenge, code),
    renewCodes: (code) => gateway.renewRecoveryCodes(account, code),
    removeFactor: (code) => gateway.removeSecondFactor(account, code),
  }
}

/** `/settings/security`: password, second factor, and where somebody is signed in. */
export const security = forHolders(
  securityPage({
    path: '/settings/security',
    place: 'settings',
    head: (
      <>
        <h1>Settings</h1>
        <SettingsTabs at="/settings/security" />
      </>
    ),
    passwordHint: 'It is that of the query-string and XML interfaces, too.',
    of: ownOf,
  }),
)
