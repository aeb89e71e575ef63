import { storedPortContracts, type Contract } from '@gateway/core/contracts'
import type { StoredPorts } from '@gateway/core'
import type { DeliveryReceipts } from '@gateway/core/dispatch'
import type { Inbox } from '@gateway/core/inbox'
import { runsEveryForm, testChance } from '@gateway/core/testing'
import { losingConnections } from '../testing/losing-connections.ts'
import { sharedDatabase, type SharedDatabase } from '../testing/shared-database.ts'
import { listenToNobody } from './changes.ts'
import { createContext } from './context.ts'
import { isLostAnswer } from './errors.ts'
import { postgresClaimedBatches } from './claimed-batches/postgres-claimed-batches.ts'
import { postgresInbox } from './inbox/postgres-inbox.ts'
import { postgresMessages } from './messages/postgres-messages.ts'
import type { Pools } from './pools.ts'
import { postgresDeliveryReceipts } from './delivery-receipts/postgres-delivery-receipts.ts'
import { defaultSettings, silent } from './settings.ts'
import type { DatabasePorts } from './stored-ports.ts'

/**
 * Selects the promises of a contract whose title contains `text`, except promises over generated cases. The excluded
 * promises check rules with statements that the other promises run as well, and took two fifths of the time.
 */
const withText = (contract: Contract<StoredPorts>, text = ''): Contract<StoredPorts> =>
  Object.fromEntries(
    Object.entries(contract).filter(([promise]) => promise.includes(text) && !promise.includes('generated')),
  )

/** Share of the promises that a run checks: a sixth in a run of all forms, because all of them take four minutes. */
const shares = runsEveryForm ? 6 : 12
const turn = testChance().below(shares)
const aShareOf = (contract: Contract<StoredPorts>): Contract<StoredPorts> =>
  Object.fromEntries(Object.entries(contract).filter((_, i) => i % shares === turn))

const { claimedBatches, deliveryReceipts, inbox, messages } = storedPortContracts
const contracts: Readonly<Record<string, Contract<StoredPorts>>> = {
  claimedBatches: aShareOf(withText(claimedBatches)),
  deliveryReceipts: aShareOf(withText(deliveryReceipts)),
  inbox: aShareOf(withText(inbox)),
  // These promises lose the answer to every choice of an address once. Other tests cut connections while orders are
  // accepted.
  messages: withText(messages, 'address'),
}

/** Repeats a claim of messages after a lost answer. A lost answer means that no messages were claimed. */
function askingAgain(sound: Inbox, lossy: Inbox): Inbox {
  const take: Inbox['take'] = async (...values) => {
    for (;;) {
      try {
        return await lossy.take(...values)
      } catch (error) {
        if (!isLostAnswer(error)) throw error
      }
    }
  }
  return {
    ...lossy,
    take,
    // After a lost answer, the returned number of released texts may be too low.
    releaseParts: (...values) => sound.releaseParts(...values),
    list: (...values) => sound.list(...values),
    unowned: () => sound.unowned(),
    listConversations: (...values) => sound.listConversations(...values),
    findConversation: (...values) => sound.findConversation(...values),
    markRead: (...values) => sound.markRead(...values),
    countUnreadConversations: (...values) => sound.countUnreadConversations(...values),
  }
}

/**
 * Loses answers to receipts only. A caller that gets no answer about an unread delivery or an unknown message calls
 * again, and the promises do not.
 */
const losingReceipts = (sound: DeliveryReceipts, lossy: DeliveryReceipts): DeliveryReceipts => ({
  ...lossy,
  storeUnread: (...values) => sound.storeUnread(...values),
  listUnread: (...values) => sound.listUnread(...values),
  dropUnread: (...values) => sound.dropUnread(...values),
  storeUnknown: (...values) => sound.storeUnknown(...values),
  takeUnknown: (...values) => sound.takeUnknown(...values),
})

/** Returns ports on the same pools that lose every other answer of the ports under test. */
function losingPorts(ports: DatabasePorts, pools: Pools): DatabasePorts {
  const lossy = { ...pools, hot: losingConnections(pools.hot), ordinary: losingConnections(pools.ordinary) }
  const context = createContext(lossy, listenToNobody(), defaultSettings, silent)
  const messages = postgresMessages(context, ports.routes)
  return {
    ...ports,
    // After a lost answer, the messages wait until their next repetition, for longer than the promises do.
    claimedBatches: {
      ...postgresClaimedBatches(context, ports.claimedBatches),
      takeRepeatable: (...values) => ports.claimedBatches.takeRepeatable(...values),
    },
    deliveryReceipts: losingReceipts(ports.deliveryReceipts, postgresDeliveryReceipts(context)),
    messages: { ...ports.messages, accept: (order) => messages.accept(order) },
    inbox: askingAgain(ports.inbox, postgresInbox(context, ports.routes)),
  }
}

describe('while every other answer is lost', () => {
  describe.each(Object.entries(contracts))('%s', (_, contract) => {
    let database: SharedDatabase
    beforeAll(async () => (database = await sharedDatabase()))
    afterAll(() => database.close())

    test.each(Object.entries(contract))('%s', (_, check) => database.check(check, losingPorts))
  })
})
