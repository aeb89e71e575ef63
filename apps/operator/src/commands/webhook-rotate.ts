import { overlapHoursDefault, overlapHoursMax, type Webhook, type WebhookId } from '@gateway/core'
import { readOverlapHours, readWebhookId } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { timeText } from '../show.ts'
import { despiteKeyText, noSuchWebhook, webhookJson, withKeyInUse } from '../webhook-words.ts'

interface Options {
  readonly overlapHours: number
  readonly despiteKey?: boolean
}

export const webhookRotate = (run: Run) =>
  command('rotate', 'make another signing secret, printed this once; the one before signs beside it for a while')
    .argument('<id>', "the webhook's id", readWebhookId)
    .option('--overlap-hours <hours>', `how long, 0 to ${overlapHoursMax}`, readOverlapHours, overlapHoursDefault)
    .option('--despite-key', despiteKeyText)
    .action((id: WebhookId, { overlapHours, despiteKey }: Options) =>
      run(async ({ backOffice, output }) => {
        const done = await withKeyInUse(backOffice.rotateWebhookSecret(id, overlapHours, { despiteKey }))
        if (done === 'no-such-webhook') throw noSuchWebhook(id)
        if (done === 'overlap-out-of-range') throw new Refused(`The hours are 0 to ${overlapHoursMax}.`)
        const { webhook, secret } = done
        output.result(
          { ...webhookJson(webhook), secret },
          `The new signing secret of webhook ${id}, shown only now:\n${secret}\n` + beforeText(webhook),
        )
      }),
    )

const beforeText = ({ previous: [last] }: Webhook): string =>
  last === undefined ? 'None before signs any more.' : `The one before signs until ${timeText(last.until)} (GMT+2).`
