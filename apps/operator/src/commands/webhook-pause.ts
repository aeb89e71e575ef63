import type { WebhookId } from '@gateway/core'
import { readWebhookId } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { noSuchWebhook, webhookJson, webhookRefused, webhookText } from '../webhook-words.ts'

const changeState = (run: Run, id: WebhookId, state: 'active' | 'paused') =>
  run(async ({ backOffice, output }) => {
    const changed = await backOffice.changeWebhook(id, { state })
    if (changed === 'no-such-webhook') throw noSuchWebhook(id)
    if (typeof changed === 'string') throw webhookRefused(changed)
    output.result(webhookJson(changed), webhookText(changed))
  })

export const webhookPause = (run: Run) =>
  command('pause', 'push nothing to a webhook for now; its events are kept for 30 days')
    .argument('<id>', "the webhook's id", readWebhookId)
    .action((id: WebhookId) => changeState(run, id, 'paused'))

export const webhookResume = (run: Run) =>
  command('resume', 'push to a webhook again, that was paused or disabled; what waits follows at once')
    .argument('<id>', "the webhook's id", readWebhookId)
    .action((id: WebhookId) => changeState(run, id, 'active'))
