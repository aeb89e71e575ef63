import type { AccountId } from '@gateway/core'
import { readAccountId, readEvents, readListSize } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { despiteKeyText, webhookJson, webhookRefused, webhookText, withKeyInUse } from '../webhook-words.ts'
import { noSuchAccount } from './account-of.ts'

interface Options {
  readonly account: AccountId
  readonly url: string
  readonly events?: readonly string[]
  readonly listSize?: number
  readonly withText?: boolean
  readonly despiteKey?: boolean
}

export const webhookAdd = (run: Run) =>
  command(
    'add',
    'push the events of an account to a URL; the signing secret is printed this once and stored encrypted',
    'gateway webhook add --account 3 --url https://crm.example.com/sms-events --events message.delivered,reply.received',
  )
    .requiredOption('--account <id>', "the account's id", readAccountId)
    .requiredOption('--url <url>', 'where to push: https, port 80, 443 or above 1023')
    .option('--events <names>', "events, separated by ','; all but message.sent if not given", readEvents)
    .option('--list-size <count>', 'at most so many events in one request, 1 to 100; 100 if not given', readListSize)
    .option('--with-text', 'events carry the text of messages')
    .option('--despite-key', despiteKeyText)
    .action(({ account, despiteKey, ...wanted }: Options) =>
      run(async ({ backOffice, output }) => {
        const added = await withKeyInUse(backOffice.addWebhook(account, wanted, { despiteKey }))
        if (added === 'no-such-account') throw noSuchAccount(account)
        if (added === 'too-many') throw new Refused(`Account ${account} has 10 webhooks, as many as it may have.`)
        if (typeof added === 'string') throw webhookRefused(added)
        const { webhook, secret } = added
        output.result(
          { ...webhookJson(webhook), secret },
          `${webhookText(webhook)}\nIts signing secret, shown only now:\n${secret}`,
        )
      }),
    )
