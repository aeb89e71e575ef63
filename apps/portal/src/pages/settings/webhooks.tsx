import { defaultEventTypes, webhookEventTypes, webhooksMax, type Webhook } from '@gateway/core/webhooks'
import { URL_RULE } from '@gateway/wire'
import { Form, Link, Main, Notice, Panel, Pill, ProblemSummary, Table, TextField, When } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { EVENT } from '../../words.ts'
import { SettingsTabs } from './settings-tabs.tsx'

export function StateOfWebhook({ of: { state, pausedFor, failingSince } }: { readonly of: Webhook }) {
  if (state === 'disabled') return <Pill tone="bad">switched off by its server (410)</Pill>
  if (state === 'paused') return <Pill tone="idle">{pausedFor === 'failing' ? 'paused after failures' : 'paused'}</Pill>
  return failingSince === undefined ? <Pill tone="good">active</Pill> : <Pill tone="wait">failing</Pill>
}

/** Returns the error messages for a refused webhook, by field. */
const refusalOf = (refusal: string): Problems => {
  if (Object.hasOwn(URL_RULE, refusal))
    return { url: `The address must be ${URL_RULE[refusal as keyof typeof URL_RULE]}.` }
  if (refusal === 'too-many') return { url: `An account has at most ${webhooksMax} webhooks.` }
  return { events: 'Choose at least one event.' }
}

interface EnteredWebhook {
  readonly url: string
  readonly events: readonly string[]
  readonly withText: boolean
}

async function view(visit: HolderVisit, entered?: EnteredWebhook, problems: Problems = {}): Promise<View> {
  const { gateway, account, query } = visit
  const webhooks = await gateway.queries.listWebhooks(account)
  const { url = '', events = defaultEventTypes, withText = false } = entered ?? {}
  return {
    title: 'Webhooks',
    place: 'settings',
    status: Object.keys(problems).length > 0 ? 422 : 200,
    main: (
      <>
        <h1>Settings</h1>
        <SettingsTabs at="/settings/webhooks" />
        {query.get('done') === 'removed' && <Notice>The webhook was removed.</Notice>}
        <ProblemSummary problems={problems} />
        <Panel>
          <Table<Webhook>
            caption="Your webhooks"
            rows={webhooks}
            empty="A webhook is an address of your server to which the gateway sends deliveries, replies and opt-outs as they happen."
            columns={[
              {
                head: 'Address',
                cell: ({ id, url: address }) => <Link to={`/settings/webhooks/${id}`}>{address}</Link>,
              },
              { head: 'Since', cell: ({ created }) => <When at={created} /> },
              { head: 'Events', number: true, cell: (webhook) => String(webhook.events.length) },
              { head: 'State', cell: (webhook) => <StateOfWebhook of={webhook} /> },
            ]}
          />
        </Panel>
        <Form to="/settings/webhooks" class="panel">
          <h2>New webhook</h2>
          <TextField
            name="url"
            label="Address"
            hint="Such as https://shop.example.com/sms-events. Each request to it is signed."
            type="url"
            value={url}
            problems={problems}
          />
          <fieldset id="field-events">
            <legend>Events</legend>
            {webhookEventTypes.map((type) => (
              <label class="box" key={type}>
                <input type="checkbox" name="events" value={type} checked={events.includes(type)} />
                <span>
                  {EVENT[type]} <span class="soft">{type}</span>
                </span>
              </label>
            ))}
          </fieldset>
          <label class="box">
            <input type="checkbox" name="withText" value="yes" checked={withText} />
            <span>Include the texts of messages</span>
          </label>
          <Main>Add the webhook</Main>
        </Form>
      </>
    ),
  }
}

const added = ({ id, url }: Webhook, secret: string): View => ({
  title: 'The webhook was added',
  place: 'settings',
  main: (
    <>
      <h1>The webhook was added</h1>
      <Panel>
        <p>
          Requests to <span class="text">{url}</span> are signed with this secret. Your server verifies them with it.
        </p>
        <p>
          <strong>Copy it now. It is shown only this once.</strong>
        </p>
        <p>
          <code class="secret">{secret}</code>
        </p>
      </Panel>
      <div class="actions">
        <Link to={`/settings/webhooks/${id}`}>I have copied it</Link>
      </div>
    </>
  ),
})

/**
 * `/settings/webhooks`: lists and adds endpoints of the account. The secret of a new endpoint is shown once, in the
 * response that added it.
 */
export const webhooks = forHolders({
  path: '/settings/webhooks',
  show: (visit) => view(visit),
  changes: 'addWebhook',
  async submit(visit, fields) {
    const entered = {
      url: fields.trimmed('url'),
      events: fields.all('events'),
      withText: fields.text('withText') !== '',
    }
    const result = await visit.gateway.commands.addWebhook(visit.account, entered)
    if (result === 'no-such-account') return 'not-found'
    return typeof result === 'string' ? view(visit, entered, refusalOf(result)) : added(result.webhook, result.secret)
  },
})
