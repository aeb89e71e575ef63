import type { WebhookId } from '@gateway/core'
import { readLimit, readOffset, readWebhookId } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { attemptHead, attemptRow, noSuchWebhook } from '../webhook-words.ts'

interface Options {
  readonly limit: number
  readonly offset: number
}

export const webhookAttempts = (run: Run) =>
  command(
    'attempts',
    'list the requests to a webhook of the last 30 days, the newest first: what it answered, and when the next try is',
    'gateway webhook attempts 1 --limit 20',
  )
    .argument('<id>', "the webhook's id", readWebhookId)
    .option('--limit <count>', 'at most so many, up to 1000', readLimit, 100)
    .option('--offset <count>', 'skip so many', readOffset, 0)
    .action((id: WebhookId, page: Options) =>
      run(async ({ backOffice, output }) => {
        const found = await backOffice.listAttempts(id, page)
        if (found === undefined) throw noSuchWebhook(id)
        const { total, items } = found
        await output.rows(attemptHead, items.map(attemptRow), () => ({ json: { total } }))
        if (total > page.offset + items.length)
          output.note(`There are ${total}: --offset ${page.offset + items.length}`)
      }),
    )
