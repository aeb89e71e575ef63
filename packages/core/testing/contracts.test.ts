import {
  accountsContract,
  bulkSendsContract,
  templatesContract,
  carrierContract,
  carrierBindsContract,
  carrierFiguresContract,
  auditLogContract,
  carrierModesContract,
  carrierRatesContract,
  accountRatesContract,
  carrierStatusesContract,
  carrierVersionsContract,
  carrierWatchesContract,
  claimedBatchesContract,
  commitsContract,
  clientRequestsContract,
  historyContract,
  ledgerContract,
  loginFailuresContract,
  messagesContract,
  operatorsContract,
  secondFactorsContract,
  overviewContract,
  personalDataContract,
  pricesContract,
  rateLimitsContract,
  deliveryReceiptsContract,
  unknownMessagesContract,
  unreadReceiptsContract,
  secretsContract,
  messageTracesContract,
  conversationsContract,
  dailySumsContract,
  inboxContract,
  routesContract,
  sendersContract,
  sentMessagesContract,
  sessionsContract,
  suppressionsContract,
  usersContract,
  wakeupsContract,
  webhooksContract,
  type Contract,
  type HeldPorts,
} from '@gateway/core/contracts'
import { memoryPorts, memorySecrets, scriptedCarrier } from '@gateway/core/testing'

const run = <Subject>(port: string, contract: Contract<Subject>, subject: () => Subject) =>
  describe(`${port} in memory`, () => {
    for (const [promise, check] of Object.entries(contract)) test(promise, () => check(subject()))
  })

/** Steps of a memory are one with their commits: here they wait before they are taken. */
function heldMemory(): HeldPorts {
  const ports = memoryPorts()
  let free = Promise.resolve()
  const { messages, ledger } = ports
  return {
    ports: {
      ...ports,
      messages: {
        ...messages,
        accept: (...asked) => free.then(() => messages.accept(...asked)),
        acceptOnce: (...asked) => free.then(() => messages.acceptOnce(...asked)),
        deleteScheduled: (...asked) => free.then(() => messages.deleteScheduled(...asked)),
      },
      ledger: { ...ledger, transfer: (...asked) => free.then(() => ledger.transfer(...asked)) },
    },
    holdCommits: () => {
      let release: () => void = () => undefined
      free = new Promise((resolve) => (release = resolve))
      return Promise.resolve(() => {
        release()
        return free
      })
    },
  }
}

run('commits', commitsContract, heldMemory)
run('accounts', accountsContract, memoryPorts)
run('ledger', ledgerContract, memoryPorts)
run('audit log', auditLogContract, memoryPorts)
run('prices', pricesContract, memoryPorts)
run('rate limits', rateLimitsContract, memoryPorts)
run('login failures', loginFailuresContract, memoryPorts)
run('account rates', accountRatesContract, memoryPorts)
run('suppressions', suppressionsContract, memoryPorts)
run('routes', routesContract, memoryPorts)
run('senders', sendersContract, memoryPorts)
run('conversations', conversationsContract, memoryPorts)
run('daily sums', dailySumsContract, memoryPorts)
run('inbox', inboxContract, memoryPorts)
run('messages', messagesContract, memoryPorts)
run('client requests', clientRequestsContract, memoryPorts)
run('carrier binds', carrierBindsContract, memoryPorts)
run('carrier watches', carrierWatchesContract, memoryPorts)
run('carrier rates', carrierRatesContract, memoryPorts)
run('carrier modes', carrierModesContract, memoryPorts)
run('carrier figures', carrierFiguresContract, memoryPorts)
run('carrier statuses', carrierStatusesContract, memoryPorts)
run('carrier versions', carrierVersionsContract, memoryPorts)
run('batches', claimedBatchesContract, memoryPorts)
run('delivery receipts', deliveryReceiptsContract, memoryPorts)
run('unread receipts', unreadReceiptsContract, memoryPorts)
run('unknown messages', unknownMessagesContract, memoryPorts)
run('history', historyContract, memoryPorts)
run('message traces', messageTracesContract, memoryPorts)
run('operators', operatorsContract, memoryPorts)
run('secondFactors', secondFactorsContract, memoryPorts)
run('overview', overviewContract, memoryPorts)
run('personal data', personalDataContract, memoryPorts)
run('wakeups', wakeupsContract, memoryPorts)
run('webhooks', webhooksContract, memoryPorts)
run('sessions', sessionsContract, memoryPorts)
run('users', usersContract, memoryPorts)
run('sent messages', sentMessagesContract, memoryPorts)
run('bulk sends', bulkSendsContract, memoryPorts)
run('templates', templatesContract, memoryPorts)
run('secrets', secretsContract, memorySecrets)
run('carrier', carrierContract, scriptedCarrier)
