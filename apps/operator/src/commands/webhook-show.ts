import type { WebhookId } from '@gateway/core'
import { readWebhookId } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { backlogJson, backlogText, noSuchWebhook, webhookJson, webhookText } from '../webhook-words.ts'

export const webhookShow = (run: Run) =>
  command('show', 'show a webhook, its state, and what waits for it')
    .argument('<id>', "the webhook's id", readWebhookId)
    .action((id: WebhookId) =>
      run(async ({ backOffice, output }) => {
        const found = await backOffice.showWebhook(id)
        if (found === undefined) throw noSuchWebhook(id)
        const { webhook, backlog } = found
        output.one(
          { ...webhookJson(webhook), backlog: backlogJson(backlog) },
          `${webhookText(webhook)}\n${backlogText(backlog)}`,
        )
      }),
    )
