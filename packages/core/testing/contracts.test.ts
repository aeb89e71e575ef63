import {
  accountsContract,
  carrierContract,
  carrierBindsContract,
  carrierStatusesContract,
  claimedBatchesContract,
  clientRequestsContract,
  historyContract,
  ledgerContract,
  loginFailuresContract,
  messagesContract,
  overviewContract,
  pricesContract,
  rateLimitsContract,
  deliveryReceiptsContract,
  secretsContract,
  messageTracesContract,
  inboxContract,
  routesContract,
  sendersContract,
  suppressionsContract,
  wakeupsContract,
  webhooksContract,
  type Contract,
} from '@gateway/core/contracts'
import { memoryPorts, memorySecrets, scriptedCarrier } from '@gateway/core/testing'

const run = <Subject>(port: string, contract: Contract<Subject>, subject: () => Subject) =>
  describe(`${port} in memory`, () => {
    for (const [promise, check] of Object.entries(contract)) test(promise, () => check(subject()))
  })

run('accounts', accountsContract, memoryPorts)
run('ledger', ledgerContract, memoryPorts)
run('prices', pricesContract, memoryPorts)
run('rate limits', rateLimitsContract, memoryPorts)
run('login failures', loginFailuresContract, memoryPorts)
run('suppressions', suppressionsContract, memoryPorts)
run('routes', routesContract, memoryPorts)
run('senders', sendersContract, memoryPorts)
run('inbox', inboxContract, memoryPorts)
run('messages', messagesContract, memoryPorts)
run('client requests', clientRequestsContract, memoryPorts)
run('carrier binds', carrierBindsContract, memoryPorts)
run('carrier statuses', carrierStatusesContract, memoryPorts)
run('batches', claimedBatchesContract, memoryPorts)
run('delivery receipts', deliveryReceiptsContract, memoryPorts)
run('history', historyContract, memoryPorts)
run('message traces', messageTracesContract, memoryPorts)
run('overview', overviewContract, memoryPorts)
run('wakeups', wakeupsContract, memoryPorts)
run('webhooks', webhooksContract, memoryPorts)
run('secrets', secretsContract, memorySecrets)
run('carrier', carrierContract, scriptedCarrier)
