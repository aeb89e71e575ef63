import { credits, minus, plus, type Credits } from '../credits/credits.ts'
import { limits } from '../limits.ts'
import type {
  AccountPorts,
  CreditPorts,
  MessagePorts,
  ProcessPorts,
  SmppCustomerPorts,
  WebhookPorts,
} from '../ports.ts'
import { daysBefore } from '../time/instant.ts'
import type { AccountId } from './account.ts'

/** Effects of one call, and what remains to be done. */
export interface ClosedAccount {
  readonly keysRevoked: number
  readonly codesReleased: number
  readonly messagesDeleted: number
  /** Refunds for the deleted messages. */
  readonly refunded: Credits
  readonly webhooksRemoved: number
  readonly smppCredentialsRemoved: number
  readonly writtenOff: Credits
  readonly balance: Credits
}

type ClosingPorts = AccountPorts &
  CreditPorts &
  MessagePorts &
  WebhookPorts &
  Pick<SmppCustomerPorts, 'smppCredentials'> &
  Pick<ProcessPorts, 'clock'>

const pageMessages = 1000

/**
 * Closes an account: locks it, revokes its credentials, returns its codes to the operator, deletes and refunds
 * scheduled messages, and removes its webhooks and SMPP credentials, whose binds are closed. A queued message ends with
 * code 202 and a refund when a dispatcher claims it (ruling 1.13). If `writeOff` is given, takes the remaining credits
 * back and records `writeOff` as the reason in the ledger. Each step may be repeated: after an interruption or later
 * refunds, call it again. A main account can be closed once its sub accounts are locked.
 */
export const closeAccount =
  (ports: ClosingPorts) =>
  async (
    id: AccountId,
    writeOff?: string,
  ): Promise<ClosedAccount | 'no-such-account' | 'has-open-sub-accounts' | 'no-reason'> => {
    if (writeOff?.trim() === '') return 'no-reason'
    const found = await ports.accounts.find(id)
    if (found === undefined) return 'no-such-account'
    if ((await ports.accounts.subAccounts(id)).some(({ account }) => !account.locked)) return 'has-open-sub-accounts'

    await ports.accounts.setLocked(id, true)
    await ports.accounts.setPassword(id, undefined)
    for (const user of await ports.people.users.list(id)) await ports.people.users.remove(id, user.id)
    const keysRevoked = await revokeKeys(ports, id)
    const released = await Promise.all(found.account.shortCodes.map((code) => ports.senders.release(code)))
    for (const { sender } of await ports.senders.allowedTo(id)) await ports.senders.disallow(id, sender)
    const deleted = await deleteAllScheduled(ports, id)
    const webhooks = await ports.webhooks.list(id)
    const removed = await Promise.all(webhooks.map((webhook) => ports.webhooks.remove(id, webhook.id)))
    return {
      keysRevoked,
      codesReleased: released.filter((is) => is).length,
      ...deleted,
      webhooksRemoved: removed.filter((is) => is).length,
      smppCredentialsRemoved: await removeSmppCredentials(ports, id),
      ...(await takeRest(ports, id, writeOff)),
    }
  }

async function revokeKeys({ accounts, clock }: ClosingPorts, id: AccountId): Promise<number> {
  const valid = (await accounts.keys(id)).filter(({ revoked }) => revoked === undefined)
  for (const key of valid) await accounts.revokeKey(key.id, clock.now())
  return valid.length
}

async function removeSmppCredentials({ smppCredentials }: ClosingPorts, id: AccountId): Promise<number> {
  const credentials = await smppCredentials.list(id)
  for (const credential of credentials) await smppCredentials.remove(id, credential.id)
  return credentials.length
}

async function deleteAllScheduled({ messages, clock }: ClosingPorts, id: AccountId) {
  const since = daysBefore(clock.now(), limits.statusDays)
  let [messagesDeleted, refunded, offset] = [0, credits(0), 0]
  for (;;) {
    const { items } = await messages.scheduled(id, { offset, limit: pageMessages })
    if (items.length === 0) return { messagesDeleted, refunded }
    const deletions = await messages.deleteScheduled(
      id,
      items.map((message) => message.id),
      since,
    )
    for (const deletion of deletions) {
      // A dispatcher has claimed the message since it was listed, so it is not deleted.
      if (deletion.outcome !== 'deleted') offset += 1
      else {
        messagesDeleted += 1
        refunded = plus(refunded, deletion.refunded)
      }
    }
  }
}

async function takeRest({ ledger, clock }: ClosingPorts, id: AccountId, writeOff: string | undefined) {
  const balance = (await ledger.balance(id)) ?? credits(0)
  const nothing = { writtenOff: credits(0), balance }
  if (writeOff === undefined || balance === 0) return nothing
  const after = await ledger.topUp(id, minus(credits(0), balance), writeOff.trim(), clock.now())
  // The balance changed meanwhile. Another call writes off the rest.
  return typeof after === 'string' ? nothing : { writtenOff: balance, balance: after }
}
