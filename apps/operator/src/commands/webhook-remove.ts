import type { WebhookId } from '@gateway/core'
import { readWebhookId } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { noSuchWebhook } from '../webhook-words.ts'

export const webhookRemove = (run: Run) =>
  command('remove', 'remove a webhook, with everything that waits for it and its attempts')
    .argument('<id>', "the webhook's id", readWebhookId)
    .action((id: WebhookId) =>
      run(async ({ backOffice, output }) => {
        if (!(await backOffice.removeWebhook(id))) throw noSuchWebhook(id)
        output.result({ id, removed: true }, `Webhook ${id} is removed.`)
      }),
    )
