import type { AccountId } from '../accounts/account.ts'
import { stateOfAccount } from '../accounts/operator-use-cases.ts'
import type { AuditDetail } from '../audit/audit-log.ts'
import { operatorCommand } from '../command.ts'
import type { CreditPorts, OperatorPorts } from '../ports.ts'
import { listMovements, refundMessage, topUp } from './move-credits.ts'
import { listPrices, removePrice, setPrice } from './set-prices.ts'

const stateOfPrice = (prefix: string, account?: AccountId) => ({
  account,
  given: { prefix },
  state: async ({ prices }: CreditPorts): Promise<AuditDetail> => {
    const table = await (account === undefined ? prices.table() : prices.of(account))
    return { priceTenths: table?.get(prefix) }
  },
})

export const creditQueries = (ports: OperatorPorts) => ({
  verifyLedger: () => ports.ledger.check(),
  listMovements: listMovements(ports),
  listPrices: listPrices(ports),
})

export const creditCommands = {
  topUp: operatorCommand({
    role: 'admin',
    run: topUp,
    audit: (account, amount, why) => ({ ...stateOfAccount(account), given: { amountTenths: amount, why } }),
  }),
  refundMessage: operatorCommand({
    role: 'admin',
    run: refundMessage,
    audit: (message, why, account) => ({ account, given: { message, why } }),
  }),
  setPrice: operatorCommand({
    role: 'admin',
    run: setPrice,
    audit: (prefix, _price, account) => stateOfPrice(prefix, account),
  }),
  removePrice: operatorCommand({ role: 'admin', run: removePrice, audit: stateOfPrice }),
}
