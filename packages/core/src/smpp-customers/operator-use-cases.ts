import type { AccountId } from '../accounts/account.ts'
import { operatorCommand } from '../command.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { SmppCustomerPorts } from '../ports.ts'
import {
  addSmppCredential,
  changeSmppCredential,
  outcomeOfCredential,
  rotateSmppCredential,
  stateOfCredential,
} from './manage-credentials.ts'
import type { RepliesBy, SmppCredentialId, SmppSettings } from './smpp-credential.ts'

const stateOfAny = (credential: SmppCredentialId) => stateOfCredential(undefined, credential)

export const smppQueries = (ports: SmppCustomerPorts) => ({
  listSmppCredentials: (account?: AccountId) => ports.smppCredentials.list(account),
  findSmppCredential: (id: SmppCredentialId) => ports.smppCredentials.find(undefined, id),
  listSmppBinds: (account?: AccountId) => ports.smppBinds.list(account),
  smppWaiting: (account?: AccountId) => ports.smppDeliveries.waiting(account),
  repliesBy: (account: AccountId) => ports.smppCredentials.repliesBy(account),
  /** Returns a part of a text that belongs to no message. `explainMessage` finds the message of any other part. */
  explainLonePart: (id: MessageId) => ports.smppParts.findLone(id),
})

export const smppCommands = {
  addSmppCredential: operatorCommand({
    role: 'admin',
    run: addSmppCredential,
    audit: (account, settings) => ({ account, given: { ...settings }, outcome: outcomeOfCredential }),
  }),
  changeSmppCredential: operatorCommand({
    role: 'admin',
    run: (ports) => (id: SmppCredentialId, settings: Partial<SmppSettings>) =>
      changeSmppCredential(ports)(undefined, id, settings),
    audit: stateOfAny,
  }),
  rotateSmppCredential: operatorCommand({
    role: 'admin',
    run: (ports) => (id: SmppCredentialId) => rotateSmppCredential(ports)(undefined, id),
    audit: stateOfAny,
  }),
  removeSmppCredential: operatorCommand({
    role: 'support',
    run: (ports) => (id: SmppCredentialId) => ports.smppCredentials.remove(undefined, id),
    audit: stateOfAny,
  }),
  setRepliesBy: operatorCommand({
    role: 'admin',
    run: (ports) => (account: AccountId, by: RepliesBy) => ports.smppCredentials.setRepliesBy(account, by),
    audit: (account, by) => ({ account, given: { by } }),
  }),
}
