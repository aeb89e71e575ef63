import { overlapHoursDefault, overlapHoursMax, type Webhook, type WebhookId } from '@gateway/core/webhooks'
import {
  readAccount,
  readEvents,
  readListSize,
  readWebhookId,
  readOverlapHours,
  readLimit,
  readOffset,
  type AccountName,
} from '../arguments.ts'
import { command, Refused, yesOption, type Run } from '../command.ts'
import type { Row } from '../output.ts'
import { timeText } from '../show.ts'
import {
  despiteKeyText,
  webhookJson,
  webhookRefused,
  webhookText,
  withKeyInUse,
  stateText,
  backlogJson,
  backlogText,
  noSuchWebhook,
  attemptHead,
  attemptRow,
} from '../webhook-words.ts'
import { noSuchAccount, accountOf } from './account.ts'

interface AddOptions {
  readonly account: AccountName
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
    .requiredOption('--account <account>', "the account's id or login", readAccount)
    .requiredOption('--url <url>', 'where to push: https, port 80, 443 or above 1023')
    .option('--events <names>', "events, separated by ','; all but message.sent if not given", readEvents)
    .option('--list-size <count>', 'at most so many events in one request, 1 to 100; 100 if not given', readListSize)
    .option('--with-text', 'events carry the text of messages')
    .option('--despite-key', despiteKeyText)
    .action(({ account: name, despiteKey, ...wanted }: AddOptions) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = await accountId(name)
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

export const webhookList = (run: Run) =>
  command('list', 'list the webhooks of all accounts, or of one')
    .option('--account <account>', 'only of this account', readAccount)
    .action(({ account: name }: { readonly account?: AccountName }) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = name && (await accountId(name))
        if (account !== undefined) await accountOf(backOffice, account)
        await output.rows(['ID', 'ACCOUNT', 'STATE', 'URL'], (await backOffice.listWebhooks(account)).map(row))
      }),
    )

const row = (webhook: Webhook): Row => ({
  json: webhookJson(webhook),
  cells: [String(webhook.id), String(webhook.account), stateText(webhook), webhook.url],
})

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

interface RotateOptions {
  readonly overlapHours: number
  readonly despiteKey?: boolean
}

export const webhookRotate = (run: Run) =>
  command('rotate', 'make another signing secret, printed this once; the one before signs beside it for a while')
    .argument('<id>', "the webhook's id", readWebhookId)
    .option('--overlap-hours <hours>', `how long, 0 to ${overlapHoursMax}`, readOverlapHours, overlapHoursDefault)
    .option('--despite-key', despiteKeyText)
    .action((id: WebhookId, { overlapHours, despiteKey }: RotateOptions) =>
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

export const webhookRemove = (run: Run) =>
  command('remove', 'remove a webhook, with everything that waits for it and its attempts')
    .argument('<id>', "the webhook's id", readWebhookId)
    .option(...yesOption)
    .action((id: WebhookId, asked: { readonly yes?: true }) =>
      run(async ({ backOffice, confirm, output }) => {
        await confirm(`Remove webhook ${id}, with everything that waits for it?`, asked)
        if (!(await backOffice.removeWebhook(id))) throw noSuchWebhook(id)
        output.result({ id, removed: true }, `Webhook ${id} is removed.`)
      }),
    )

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

interface AttemptsOptions {
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
    .action((id: WebhookId, page: AttemptsOptions) =>
      run(async ({ backOffice, output }) => {
        const found = await backOffice.listAttempts(id, page)
        if (found === undefined) throw noSuchWebhook(id)
        const { total, items } = found
        await output.rows(attemptHead, items.map(attemptRow), () => ({ json: { total } }))
        if (total > page.offset + items.length)
          output.note(`There are ${total}: --offset ${page.offset + items.length}`)
      }),
    )
