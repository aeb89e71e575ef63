import type { Account } from '../accounts/account.ts'
import { holderCommand } from '../command.ts'
import { sendMessages } from '../messages/send-messages.ts'
import type { HolderPorts } from '../ports.ts'
import type { BulkDraft, BulkRow, BulkSendId } from './bulk-sends.ts'
import { addTemplate, changeTemplate, findTemplate } from './keep-templates.ts'
import { quoteBulkSend } from './quote-bulk-send.ts'
import { bulkIds, cancelBulkSend, draftBulkSend, sendNextCall, startBulkSend } from './send-in-bulk.ts'
import type { TemplateId } from './templates.ts'

export const bulkSendQueries = (ports: HolderPorts) => ({
  listBulkDrafts: ({ id }: Account, page: Parameters<HolderPorts['bulkSends']['listDrafts']>[1]) =>
    ports.bulkSends.listDrafts(id, page),
  findBulkSend: (account: Account, id: BulkSendId) => ports.bulkSends.find(account.id, id),
  quoteBulkSend: quoteBulkSend(ports),
  listBulkSends: ({ id }: Account, page: Parameters<HolderPorts['bulkSends']['list']>[1]) =>
    ports.bulkSends.list(id, page),
  bulkOutcomes: (account: Account, id: BulkSendId) => ports.bulkSends.outcomes(account.id, id),
  returnedCredits: (account: Account, ids: readonly BulkSendId[]) => ports.bulkSends.returned(account.id, ids),
  bulkIds: bulkIds(ports),
  bulkRows: (account: Account, id: BulkSendId, call: number) => ports.bulkSends.rows(account.id, id, call),
  listTemplates: ({ id }: Account) => ports.templates.list(id),
  findTemplate: findTemplate(ports),
})

const recordedSend = (_account: Account, send: BulkSendId) => ({ given: { send } })

export const bulkSendCommands = {
  // Drafts are not recorded, because a draft has no effect until it is started.
  draftBulkSend: holderCommand({ role: 'sender', run: draftBulkSend, audit: false }),
  changeBulkSend: holderCommand({
    role: 'sender',
    run: (ports) => (account: Account, id: BulkSendId, draft: BulkDraft, calls?: readonly (readonly BulkRow[])[]) =>
      ports.bulkSends.change(account.id, id, draft, calls),
    audit: false,
  }),
  discardBulkSend: holderCommand({
    role: 'sender',
    run: (ports) => (account: Account, id: BulkSendId) => ports.bulkSends.discard(account.id, id),
    audit: false,
  }),
  startBulkSend: holderCommand({ role: 'sender', run: startBulkSend, audit: recordedSend }),
  stopBulkSend: holderCommand({
    role: 'sender',
    run: (ports) => (account: Account, id: BulkSendId) => ports.bulkSends.stop(account.id, id),
    audit: recordedSend,
  }),
  cancelBulkSend: holderCommand({ role: 'sender', run: cancelBulkSend, audit: recordedSend }),
  /** Called by processes in the background, for every account. */
  sendNextCall: holderCommand({
    role: 'anybody',
    run: (ports, { senders, activity }) => sendNextCall(ports, sendMessages(ports, senders, activity)),
    audit: false,
  }),
  addTemplate: holderCommand({
    role: 'sender',
    run: addTemplate,
    audit: (_account, { name }) => ({
      given: { name },
      outcome: (added) => (typeof added === 'string' ? added : { template: added }),
    }),
  }),
  changeTemplate: holderCommand({
    role: 'sender',
    run: changeTemplate,
    audit: (_account, template, { name }) => ({ given: { template, name } }),
  }),
  removeTemplate: holderCommand({
    role: 'sender',
    run: (ports) => (account: Account, id: TemplateId) => ports.templates.remove(account.id, id),
    audit: (_account, template) => ({ given: { template } }),
  }),
}
