import { forOperators, type OperatorVisit } from '../../page.ts'
import { securityPage, type OwnSecurity } from '../session/security-area.tsx'

function ownOf({ backOffice, operator, session, browser, network }: OperatorVisit): OwnSecurity {
  const sessions = () => backOffice.queries.listOperatorSessions(operator.id)
  return {
    session,
    sessions,
    async endOthers() {
      for (const { id } of await sessions())
        if (id !== session.id) await backOffice.commands.endOperatorSessions(operator.id, id)
    },
    changePassword: (password, newPassword) =>
      backOffice.commands.changeOperatorPassword(
        { name: operator.name, password, network, address: browser.address },
        newPassword,
        browser,
      ),
    keep: (opened) => ({ operatorSession: opened }),
    factor: () => backOffice.queries.findOperatorFactor(operator.id),
    isFactorRequired: () => Promise.resolve(backOffice.queries.isOperatorFactorRequired()),
    beginFactor: (password) =>
      backOffice.commands.beginOperatorFactor(operator, { password, network, address: browser.address }),
    setFactor: (challenge, code) => backOffice.commands.setOperatorFactor(operator, challenge, code),
    renewCodes: (code) => backOffice.commands.renewOperatorCodes(operator, code),
    removeFactor: (code) => backOffice.commands.removeOperatorFactor(operator, code),
  }
}

/** `/operator/security`: lets operators change their own password and second factor, and end their sessions. */
export const operatorSecurity = forOperators(
  securityPage({ path: '/operator/security', place: 'security', head: <h1>Security</h1>, of: ownOf }),
)
