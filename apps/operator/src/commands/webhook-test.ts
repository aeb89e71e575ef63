import type { WebhookId } from '@gateway/core'
import { readWebhookId } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { noSuchWebhook } from '../webhook-words.ts'

export const webhookTest = (run: Run) =>
  command('test', "push an event of the type 'test' to a webhook, also while it is paused")
    .argument('<id>', "the webhook's id", readWebhookId)
    .action((id: WebhookId) =>
      run(async ({ backOffice, output }) => {
        const event = await backOffice.testWebhook(id)
        if (event === 'no-such-webhook') throw noSuchWebhook(id)
        output.result({ id, event }, `Event ${event} will be pushed. What comes of it: gateway webhook attempts ${id}`)
      }),
    )
