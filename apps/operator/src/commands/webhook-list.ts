import type { AccountId, Webhook } from '@gateway/core'
import { readAccountId } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import type { Row } from '../output.ts'
import { stateText, webhookJson } from '../webhook-words.ts'
import { accountOf } from './account-of.ts'

export const webhookList = (run: Run) =>
  command('list', 'list the webhooks of all accounts, or of one')
    .option('--account <id>', 'only of this account', readAccountId)
    .action(({ account }: { readonly account?: AccountId }) =>
      run(async ({ backOffice, output }) => {
        if (account !== undefined) await accountOf(backOffice, account)
        await output.rows(['ID', 'ACCOUNT', 'STATE', 'URL'], (await backOffice.listWebhooks(account)).map(row))
      }),
    )

const row = (webhook: Webhook): Row => ({
  json: webhookJson(webhook),
  cells: [String(webhook.id), String(webhook.account), stateText(webhook), webhook.url],
})
