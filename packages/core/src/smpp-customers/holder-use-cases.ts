import type { Account } from '../accounts/account.ts'
import { byAccount, holderCommand } from '../command.ts'
import { sendMessages } from '../messages/send-messages.ts'
import type { SmppCustomerPorts } from '../ports.ts'
import { authenticateBind } from './bind.ts'
import {
  addSmppCredential,
  changeSmppCredential,
  outcomeOfCredential,
  rotateSmppCredential,
  stateOfCredential,
} from './manage-credentials.ts'
import type { BindId, BindReport, NewBind, SmppProcessId } from './smpp-binds.ts'
import type { RepliesBy, SmppCredentialId, SmppSettings } from './smpp-credential.ts'
import { submitOverSmpp } from './submit.ts'
import { submitPart } from './submit-part.ts'

const stateOfOwn = ({ id }: Account, credential: SmppCredentialId) => stateOfCredential(id, credential)

export const smppQueries = (ports: SmppCustomerPorts) => ({
  /** Returns a credential and its account as they are now. */
  smppSession: (id: SmppCredentialId) => ports.smppCredentials.session(id),
  listSmppCredentials: ({ id }: Account) => ports.smppCredentials.list(id),
  listSmppBinds: ({ id }: Account) => ports.smppBinds.list(id),
  smppWaiting: ({ id }: Account) => ports.smppDeliveries.waiting(id),
  repliesBy: ({ id }: Account) => ports.smppCredentials.repliesBy(id),
})

// Binds and submissions come from the SMPP server, which has verified a credential. The audit log does not record them.
export const smppCommands = {
  authenticateBind: holderCommand({ role: 'anybody', run: authenticateBind, audit: false }),
  openBind: holderCommand({
    role: 'anybody',
    run: (ports) => (credential: SmppCredentialId, bind: NewBind) => ports.smppBinds.open(credential, bind),
    audit: false,
  }),
  closeBinds: holderCommand({
    role: 'anybody',
    run: (ports) => (process: SmppProcessId, binds: readonly BindId[]) => ports.smppBinds.close(process, binds),
    audit: false,
  }),
  reportBinds: holderCommand({
    role: 'anybody',
    run: (ports) => (process: SmppProcessId, binds: readonly BindReport[]) => ports.smppBinds.report(process, binds),
    audit: false,
  }),
  submitOverSmpp: holderCommand({
    role: 'sender',
    run: (ports, { senders, activity }) => submitOverSmpp(ports, sendMessages(ports, senders, activity)),
    audit: false,
  }),
  submitPart: holderCommand({
    role: 'sender',
    run: (ports, { senders, activity, waitingPartsMax }) => submitPart(ports, senders, { activity, waitingPartsMax }),
    audit: false,
  }),
  addSmppCredential: holderCommand({
    role: 'owner',
    run: (ports) =>
      byAccount((account, settings?: Partial<SmppSettings>) => addSmppCredential(ports)(account, settings)),
    audit: (_account, settings) => ({ given: { ...settings }, outcome: outcomeOfCredential }),
  }),
  changeSmppCredential: holderCommand({
    role: 'owner',
    run: (ports) => byAccount(changeSmppCredential(ports)),
    audit: stateOfOwn,
  }),
  rotateSmppCredential: holderCommand({
    role: 'owner',
    run: (ports) => byAccount(rotateSmppCredential(ports)),
    audit: stateOfOwn,
  }),
  removeSmppCredential: holderCommand({
    role: 'owner',
    run: (ports) => byAccount((account, id: SmppCredentialId) => ports.smppCredentials.remove(account, id)),
    audit: stateOfOwn,
  }),
  setRepliesBy: holderCommand({
    role: 'owner',
    run: (ports) => byAccount((account, by: RepliesBy) => ports.smppCredentials.setRepliesBy(account, by)),
    audit: (_account, by) => ({ given: { by } }),
  }),
}
