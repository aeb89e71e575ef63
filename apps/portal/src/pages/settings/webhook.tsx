import { webhookId, type PushAttempt, type ReplayTask, type ShownWebhook, type Webhook } from '@gateway/core/webhooks'
import { PUSH_RESULT_TEXT } from '@gateway/wire'
import { Figures, Form, Hidden, Link, Notice, Panel, Pill, Second, Table, When } from '../../components.tsx'
import type { Fields } from '../../forms.ts'
import { count, counted } from '../../format.ts'
import { forHolders, type Answer, type HolderVisit } from '../../page.ts'
import { EVENT } from '../../words.ts'
import { StateOfWebhook } from './webhooks.tsx'

const pageSize = 25

const done: Readonly<Record<string, string>> = {
  tested: 'A test is on its way. The response appears among the requests below.',
  paused: 'The webhook is paused. Events are kept until it is resumed.',
  active: 'The webhook is active. Events that were kept are sent now.',
  replaying: 'Events that could not be delivered are sent again.',
  running: 'Another replay of your account is running. Wait until it has ended.',
}

function answerOf({ answer }: PushAttempt) {
  if (answer.outcome === 'failed') return answer.failure
  const { status, beginning } = answer
  return beginning === '' ? (
    String(status)
  ) : (
    <details>
      <summary>{status}</summary>
      <span class="text">{beginning}</span>
    </details>
  )
}

const TONE = { delivered: 'good', retry: 'wait', dead: 'bad', gone: 'bad', failed: 'bad' } as const

const Verdict = ({ of: { verdict } }: { readonly of: PushAttempt }) => (
  <Pill tone={TONE[verdict]}>{PUSH_RESULT_TEXT[verdict]}</Pill>
)

const Do = ({ id, action, children }: { readonly id: number; readonly action: string; readonly children: string }) => (
  <Form to={`/settings/webhooks/${id}`}>
    <Hidden name="do" value={action} />
    <Second>{children}</Second>
  </Form>
)

const ReplayState = ({ of: { state, events, waiting } }: { readonly of: ReplayTask }) => (
  <p class="hint">
    Latest replay: {counted(events, 'event')}, {count(waiting)} still to be sent,{' '}
    {state === 'running' ? 'under way' : state === 'done' ? 'ended' : 'stopped'}.
  </p>
)

async function view(visit: HolderVisit, { webhook, backlog }: ShownWebhook): Promise<Answer> {
  const { gateway, account, query } = visit
  const { id } = webhook
  const olderText = query.get('older') ?? ''
  const offset = /^[1-9][0-9]{0,6}$/.test(olderText) ? Number(olderText) : 0
  const [attempts, replay] = await Promise.all([
    gateway.queries.listAttempts(account, id, { offset, limit: pageSize }),
    gateway.queries.showReplay(account, id),
  ])
  if (attempts === undefined) return 'not-found'
  const notice = done[query.get('done') ?? '']
  return {
    title: 'Webhook',
    place: 'settings',
    live: offset === 0,
    main: (
      <>
        <p>
          <Link to="/settings/webhooks">Webhooks</Link>
        </p>
        <h1 id="heading" data-live="">
          <span class="text">{webhook.url}</span> <StateOfWebhook of={webhook} />
        </h1>
        {notice !== undefined && <Notice>{notice}</Notice>}
        <Panel live="waiting">
          <Figures
            of={[
              ['Waiting events', count(backlog.events)],
              ['Requests being retried', count(backlog.lists)],
              ['Requests given up', count(backlog.dead)],
            ]}
          />
          {typeof replay === 'object' && <ReplayState of={replay} />}
          <p class="hint">Subscribed to: {webhook.events.map((type) => EVENT[type].toLowerCase()).join(', ')}.</p>
        </Panel>
        <div class="actions" id="actions" data-live="">
          <Do id={id} action="test">
            Send a test
          </Do>
          {webhook.state === 'active' ? (
            <Do id={id} action="pause">
              Pause
            </Do>
          ) : (
            <Do id={id} action="resume">
              Resume
            </Do>
          )}
          {backlog.dead > 0 && (
            <Do id={id} action="replay">
              Resend events that were given up
            </Do>
          )}
          <Link to={`/settings/webhooks/${id}/remove`}>Remove</Link>
        </div>
        <Panel live="attempts">
          <Table<PushAttempt>
            caption={`Requests, ${count(attempts.total)} in 30 days`}
            rows={attempts.items}
            empty="No request has been made yet. Send a test."
            columns={[
              { head: 'When', cell: ({ at }) => <When at={at} /> },
              { head: 'Events', number: true, cell: ({ events }) => count(events.length) },
              { head: 'Try', number: true, cell: ({ tries }) => String(tries) },
              { head: 'Answer', cell: answerOf },
              { head: 'After', number: true, cell: ({ answer }) => `${count(answer.milliseconds)} ms` },
              { head: 'State', cell: (attempt) => <Verdict of={attempt} /> },
              { head: 'Next try', cell: ({ next }) => (next === undefined ? '–' : <When at={next} />) },
            ]}
          />
        </Panel>
        <div class="actions">
          {offset + pageSize < attempts.total && (
            <Link to={`/settings/webhooks/${id}?older=${offset + pageSize}`}>Older</Link>
          )}
        </div>
      </>
    ),
  }
}

const idOf = ({ parameters: { id = '' } }: HolderVisit) =>
  /^[1-9][0-9]{0,9}$/.test(id) ? webhookId(Number(id)) : undefined

/** Returns the webhook of the path if it belongs to the account. */
async function found(visit: HolderVisit): Promise<ShownWebhook | undefined> {
  const id = idOf(visit)
  return id === undefined ? undefined : visit.gateway.queries.showWebhook(visit.account, id)
}

/** `/settings/webhooks/<id>`: shows one endpoint, its waiting events, and every request with its response. */
export const webhook = forHolders({
  path: '/settings/webhooks/:id',
  async show(visit) {
    const shown = await found(visit)
    return shown === undefined ? 'not-found' : view(visit, shown)
  },
  changes: 'changeWebhook',
  async submit(visit, fields) {
    const shown = await found(visit)
    if (shown === undefined) return 'not-found'
    return { goTo: `/settings/webhooks/${shown.webhook.id}?done=${await act(visit, shown.webhook, fields)}` }
  },
})

/** Performs the action of a button. Returns the key of the notice that the page shows afterwards. */
async function act({ gateway, account }: HolderVisit, { id }: Webhook, fields: Fields): Promise<string> {
  const action = fields.text('do')
  if (action === 'replay') {
    const begun = await gateway.commands.startReplay(account, id, { kind: 'dead' })
    return typeof begun === 'object' && 'started' in begun ? 'replaying' : 'running'
  }
  if (action === 'test') {
    await gateway.commands.testWebhook(account, id)
    return 'tested'
  }
  const state = action === 'pause' ? 'paused' : 'active'
  await gateway.commands.changeWebhook(account, id, { state })
  return state
}

/**
 * `/settings/webhooks/<id>/remove`: asks for confirmation, because the waiting events of the endpoint are deleted with
 * it.
 */
export const webhookRemoval = forHolders({
  path: '/settings/webhooks/:id/remove',
  isForm: true,
  async show(visit) {
    const shown = await found(visit)
    if (shown === undefined) return 'not-found'
    const { id, url } = shown.webhook
    return {
      title: 'Remove the webhook',
      place: 'settings',
      main: (
        <>
          <h1>Remove this webhook?</h1>
          <p class="text">{url}</p>
          <p>It gets no further events, and its waiting events are deleted. Its requests are no longer listed.</p>
          <div class="actions">
            <Form to={`/settings/webhooks/${id}/remove`}>
              <Second>Remove the webhook</Second>
            </Form>
            <Link to={`/settings/webhooks/${id}`}>Keep it</Link>
          </div>
        </>
      ),
    }
  },
  changes: 'changeWebhook',
  async submit(visit) {
    const id = idOf(visit)
    const removed = id !== undefined && (await visit.gateway.commands.removeWebhook(visit.account, id))
    return removed ? { goTo: '/settings/webhooks?done=removed' } : 'not-found'
  },
})
