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
    'push the events of an account to a URL; the signing secret is shown only once and stored encrypted',
    'gateway webhook add --account 3 --url https://crm.example.com/sms-events --events message.delivered,reply.received',
  )
    .requiredOption('--account <account>', "the account's id or login", readAccount)
    .requiredOption('--url <url>', 'the URL to push to: https, port 80, 443 or above 1023')
    .option('--events <names>', "events, separated by ','; default: all except message.sent", readEvents)
    .option('--list-size <count>', 'maximum events in one request, 1 to 100; default: 100', readListSize)
    .option('--with-text', 'include the texts of messages in events')
    .option('--despite-key', despiteKeyText)
    .action(({ account: name, despiteKey, ...settings }: AddOptions) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = await accountId(name)
        const added = await withKeyInUse(backOffice.commands.addWebhook(account, settings, { despiteKey }))
        if (added === 'no-such-account') throw noSuchAccount(account)
        if (added === 'too-many') throw new Refused(`Account ${account} already has 10 webhooks, the maximum.`)
        if (typeof added === 'string') throw webhookRefused(added)
        const { webhook, secret } = added
        output.result(
          { ...webhookJson(webhook), secret },
          `${webhookText(webhook)}\nIts signing secret, shown only now:\n${secret}`,
        )
      }),
    )

export const webhookList = (run: Run) =>
  command('list', 'list the webhooks of all accounts or of one account')
    .option('--account <account>', 'only this account', readAccount)
    .action(({ account: name }: { readonly account?: AccountName }) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = name && (await accountId(name))
        if (account !== undefined) await accountOf(backOffice, account)
        await output.rows(['ID', 'ACCOUNT', 'STATE', 'URL'], (await backOffice.queries.listWebhooks(account)).map(row))
      }),
    )

const row = (webhook: Webhook): Row => ({
  json: webhookJson(webhook),
  cells: [String(webhook.id), String(webhook.account), stateText(webhook), webhook.url],
})

export const webhookShow = (run: Run) =>
  command('show', 'show a webhook, its state and its waiting events')
    .argument('<id>', "the webhook's id", readWebhookId)
    .action((id: WebhookId) =>
      run(async ({ backOffice, output }) => {
        const found = await backOffice.queries.showWebhook(id)
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
    const changed = await backOffice.commands.changeWebhook(id, { state })
    if (changed === 'no-such-webhook') throw noSuchWebhook(id)
    if (typeof changed === 'string') throw webhookRefused(changed)
    output.result(webhookJson(changed), webhookText(changed))
  })

export const webhookPause = (run: Run) =>
  command('pause', 'stop pushing to a webhook; its events are kept for 30 days')
    .argument('<id>', "the webhook's id", readWebhookId)
    .action((id: WebhookId) => changeState(run, id, 'paused'))

export const webhookResume = (run: Run) =>
  command('resume', 'resume a paused or disabled webhook; waiting events are pushed at once')
    .argument('<id>', "the webhook's id", readWebhookId)
    .action((id: WebhookId) => changeState(run, id, 'active'))

interface RotateOptions {
  readonly overlapHours: number
  readonly despiteKey?: boolean
}

export const webhookRotate = (run: Run) =>
  command('rotate', 'create a new signing secret, which is shown only once; the previous secret also signs for a while')
    .argument('<id>', "the webhook's id", readWebhookId)
    .option(
      '--overlap-hours <hours>',
      `hours for which the previous secret also signs, 0 to ${overlapHoursMax}`,
      readOverlapHours,
      overlapHoursDefault,
    )
    .option('--despite-key', despiteKeyText)
    .action((id: WebhookId, { overlapHours, despiteKey }: RotateOptions) =>
      run(async ({ backOffice, output }) => {
        const done = await withKeyInUse(backOffice.commands.rotateWebhookSecret(id, overlapHours, { despiteKey }))
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
  last === undefined
    ? 'No previous secret signs any more.'
    : `The previous secret also signs until ${timeText(last.until)} (GMT+2).`

export const webhookRemove = (run: Run) =>
  command('remove', 'remove a webhook with its waiting events and its attempts')
    .argument('<id>', "the webhook's id", readWebhookId)
    .option(...yesOption)
    .action((id: WebhookId, options: { readonly yes?: true }) =>
      run(async ({ backOffice, confirm, output }) => {
        await confirm(`Remove webhook ${id} with its waiting events?`, options)
        if (!(await backOffice.commands.removeWebhook(id))) throw noSuchWebhook(id)
        output.result({ id, removed: true }, `Webhook ${id} is removed.`)
      }),
    )

export const webhookTest = (run: Run) =>
  command('test', "push an event of type 'test' to a webhook, even if it is paused")
    .argument('<id>', "the webhook's id", readWebhookId)
    .action((id: WebhookId) =>
      run(async ({ backOffice, output }) => {
        const event = await backOffice.commands.testWebhook(id)
        if (event === 'no-such-webhook') throw noSuchWebhook(id)
        output.result(
          { id, event },
          `Event ${event} will be pushed. See the result with gateway webhook attempts ${id}.`,
        )
      }),
    )

interface AttemptsOptions {
  readonly limit: number
  readonly offset: number
}

export const webhookAttempts = (run: Run) =>
  command(
    'attempts',
    'list the requests to a webhook in the last 30 days, newest first, with the answers and the next tries',
    'gateway webhook attempts 1 --limit 20',
  )
    .argument('<id>', "the webhook's id", readWebhookId)
    .option('--limit <count>', 'maximum number of rows, up to 1000', readLimit, 100)
    .option('--offset <count>', 'number of rows to skip', readOffset, 0)
    .action((id: WebhookId, page: AttemptsOptions) =>
      run(async ({ backOffice, output }) => {
        const found = await backOffice.queries.listAttempts(id, page)
        if (found === undefined) throw noSuchWebhook(id)
        const { total, items } = found
        await output.rows(attemptHead, items.map(attemptRow), () => ({ json: { total } }))
        if (total > page.offset + items.length)
          output.note(`There are ${total} attempts. For more: --offset ${page.offset + items.length}`)
      }),
    )
