import { carrierId, type CarrierId } from '@gateway/core/dispatch'
import type { ConnectableProvider, ConnectionTrial, ProviderConnection, StoredConnections } from '@gateway/core/fleet'
import { bodyOf, readWrittenNumber } from '@gateway/core/messages'
import { Form, Hidden, Link, Main, Notice, Panel, ProblemSummary, Second, TextField } from '../../components.tsx'
import type { Fields, Problems } from '../../forms.ts'
import { forOperators, type Answer, type OperatorVisit, type View } from '../../page.ts'
import { NUMBER_PROBLEM, type Tone } from '../../words.ts'
import { outdated, ObstacleNotice, Steps } from './connect.tsx'
import { ConnectionForm, fieldsOf, problemsOf, versionOf, type ShownFields } from './connection-form.tsx'

interface Shown {
  readonly connection: ProviderConnection
  /** Provider of the connection; undefined for a description in the document. */
  readonly provider: ConnectableProvider | undefined
  readonly stored: StoredConnections
  readonly isHeld: boolean
}

async function find({ backOffice, parameters }: OperatorVisit): Promise<Shown | undefined> {
  const name = carrierId(parameters.name ?? '')
  const [stored, heldCarriers] = await Promise.all([
    backOffice.queries.storedConnections(),
    backOffice.queries.listHeldCarriers(),
  ])
  const connection = stored?.connections.find(({ carrier }) => carrier === name)
  if (stored === undefined || connection === undefined) return undefined
  const provider = backOffice.queries.listProviders()?.find((one) => one.name === connection.provider)
  return { connection, provider, stored, isHeld: heldCarriers.some(({ carrier }) => carrier === name) }
}

/** Meanings of the answers to a test message, as ends of sentences that begin with the name of the provider. */
const TRIAL: Readonly<Record<string, readonly [tone: Tone, text: string]>> = {
  accepted: ['good', 'accepted the message. It is on its way to the phone.'],
  refused: ['bad', 'refused the message.'],
  'refused-for-now': ['wait', 'did not take the message. It could not be reached, or asks to try again later.'],
  throttled: ['wait', 'gets too many messages at this moment. Try again in a minute.'],
  'account-broken': ['bad', 'does not accept your account: a wrong secret, no credit, or a sender that is not yours.'],
  unknown: ['wait', 'gave no clear answer. Nobody can tell whether it has the message.'],
}

function TrialResult({ of: { outcome, reference, reason, answer }, title }: { of: ConnectionTrial; title: string }) {
  const [tone, text] = TRIAL[outcome] ?? (['wait', `answered: ${outcome}.`] as const)
  return (
    <>
      <Notice tone={tone}>
        <strong>
          {title} {text}
        </strong>
        {reference !== undefined && <> Its id there is {reference}.</>}
        {reason !== undefined && <> It says: “{reason}”.</>}
      </Notice>
      {answer !== undefined && (
        <details>
          <summary>The whole answer</summary>
          <p>{answer.status}</p>
          <pre tabIndex={0}>{answer.body.slice(0, answerLengthMax)}</pre>
        </details>
      )}
    </>
  )
}

/** Characters of a provider's answer that the page shows. */
const answerLengthMax = 2000

interface Extras {
  readonly trial?: ConnectionTrial
  readonly problems?: Problems
  readonly notice?: string
  /** Number and text of the test message that was sent. */
  readonly typed?: { readonly number: string; readonly text: string }
  readonly fields?: ShownFields
}

const DONE: Readonly<Record<string, string>> = {
  connected: 'The provider is connected. Nothing is sent over it before you start it.',
  changed: 'The connection was changed. All processes apply it within seconds.',
  started: 'The carrier is started. The dispatchers send over it within seconds.',
}

function view(visit: OperatorVisit, shown: Shown, extras: Extras = {}): View {
  const { operator, query } = visit
  const { connection, provider, stored, isHeld } = shown
  const { carrier } = connection
  const { '': general, ...problems } = problemsOf(extras.problems ?? {})
  const title = provider?.title ?? 'The provider'
  const to = `/operator/carriers/${carrier}/connection`
  const done = DONE[query.get('done') ?? '']
  const mayChange = operator.role === 'admin'
  const isWrong = Object.keys(extras.problems ?? {}).length > 0 || extras.notice !== undefined
  return {
    title: `Connection of ${carrier}`,
    place: 'carriers',
    status: isWrong ? 422 : 200,
    main: (
      <>
        <p>
          <Link to="/operator/connect">Connect a provider</Link>
        </p>
        {done !== undefined && extras.trial === undefined && !isWrong && <Notice>{done}</Notice>}
        <ProblemSummary problems={problems} />
        {[extras.notice, general].map((text) => text !== undefined && <Notice tone="bad">{text}</Notice>)}
        <h1>
          Connection of {carrier}, to {title}
        </h1>
        {stored.obstacle !== undefined && <ObstacleNotice of={stored.obstacle} />}
        <Panel title="1. Send a test message">
          <p>It really goes to the phone. No account is charged, and the message is in no list.</p>
          {extras.trial !== undefined && <TrialResult of={extras.trial} title={title} />}
          {mayChange && (
            <Form to={to}>
              <Hidden name="act" value="test" />
              <TextField
                name="number"
                label="Number of your own phone"
                hint="In international form, such as 27825550101"
                value={extras.typed?.number ?? ''}
                problems={problems}
              />
              <TextField name="text" label="Text" value={extras.typed?.text ?? 'Test'} problems={problems} />
              <Main>Send a test message</Main>
            </Form>
          )}
        </Panel>
        <CallbackPanel {...{ connection, provider, mayChange }} />
        <Panel title="3. Start">
          {isHeld ? (
            <p>The carrier is paused: nothing is sent over it.</p>
          ) : (
            <p>
              The carrier is started. <Link to={`/operator/carriers/${carrier}`}>Its state and figures</Link>
            </p>
          )}
          {isHeld && mayChange && (
            <Form to={to}>
              <Hidden name="act" value="start" />
              <Second>Start sending over {carrier}</Second>
            </Form>
          )}
        </Panel>
        {provider !== undefined && mayChange && (
          <Panel title="Change the connection">
            <ConnectionForm
              {...{ to, provider, stored, connection, problems }}
              shown={extras.fields ?? fieldsFor(shown)}
            >
              <Second>Store the changes</Second>
            </ConnectionForm>
          </Panel>
        )}
        {mayChange && <Removal {...{ carrier, stored, to }} />}
      </>
    ),
  }
}

const fieldsFor = ({ connection: { carrier, from = '', baseUrl = '' }, stored }: Shown): ShownFields => ({
  ...{ carrier, from, baseUrl, publicUrl: stored.publicUrl ?? '' },
})

function CallbackPanel({
  connection: { callbackUrl },
  provider,
  mayChange,
}: Pick<Shown, 'connection' | 'provider'> & { readonly mayChange: boolean }) {
  return (
    <Panel title="2. Let the provider call back">
      {callbackUrl === undefined ? (
        <p>
          Receipts and replies cannot arrive yet: the public URL of the gateway, or a secret that verifies callbacks, is
          missing.
        </p>
      ) : mayChange ? (
        <>
          <p>
            Receipts and replies come to this URL. Whoever knows it can report receipts, so treat it like a password.
          </p>
          <p>
            <code>{callbackUrl}</code>
          </p>
        </>
      ) : (
        <p>Receipts and replies come to a URL that administrators can see.</p>
      )}
      {provider !== undefined && <Steps of={provider.callbackSteps} />}
    </Panel>
  )
}

function Removal({
  carrier,
  stored,
  to,
}: {
  readonly carrier: CarrierId
  readonly stored: StoredConnections
  readonly to: string
}) {
  return (
    <Panel title="Remove the connection">
      <p>
        The carrier and its secrets are removed. Messages that wait for it go to other carriers. Older versions of the
        carriers still contain the secrets, encrypted: end them at the provider as well.
      </p>
      <Form to={to}>
        <Hidden name="act" value="remove" />
        <Hidden name="after" value={String(stored.version)} />
        <Second>Remove {carrier}</Second>
      </Form>
    </Panel>
  )
}

const REMOVAL = {
  outdated,
  'no-such-carrier': 'There is no such carrier any more.',
  'last-carrier': 'This is the only carrier, so it cannot be removed. Connect another one first.',
  'in-use': 'A route names this carrier. Remove it from the route in the carriers document first.',
  'not-offered': 'This portal connects no providers.',
} as const

async function remove(visit: OperatorVisit, shown: Shown, after: number): Promise<Answer> {
  const { backOffice, operator } = visit
  const { carrier } = shown.connection
  const result = await backOffice.commands.removeConnection(carrier, after, `${operator.name} at the portal`)
  if (typeof result === 'number') return { goTo: '/operator/connect' }
  if (typeof result === 'object') return view(visit, shown, { problems: result.problems })
  return view(visit, shown, { notice: REMOVAL[result] })
}

async function change(visit: OperatorVisit, shown: Shown, fields: Fields, after: number): Promise<Answer> {
  const { connection, provider } = shown
  if (provider === undefined) return 'not-found'
  const { backOffice, operator } = visit
  const entered = fieldsOf(provider, connection.carrier, fields)
  const result = await backOffice.commands.changeConnection(entered, after, `${operator.name} at the portal`)
  if (typeof result === 'number') return { goTo: `/operator/carriers/${connection.carrier}/connection?done=changed` }
  if (typeof result === 'object') return view(visit, shown, { problems: result.problems, fields: entered })
  return view(visit, shown, { notice: REMOVAL[result], fields: entered })
}

async function test(visit: OperatorVisit, shown: Shown, fields: Fields): Promise<Answer> {
  const typed = { number: fields.trimmed('number'), text: fields.text('text') }
  const { number, unread } = readWrittenNumber(typed.number)
  if (number === undefined) return view(visit, shown, { typed, problems: { number: NUMBER_PROBLEM[unread] } })
  const body = bodyOf(typed.text)
  if (typeof body === 'string')
    return view(visit, shown, { typed, problems: { text: 'Enter a text that can be sent.' } })
  const trial = await visit.backOffice.commands.testConnection(shown.connection.carrier, { to: number, body })
  return typeof trial === 'string' ? 'not-found' : view(visit, shown, { trial, typed })
}

/**
 * `/operator/carriers/<name>/connection`: shows the connection of a carrier to its provider with the URL of its
 * callbacks. Sends a test message, and starts, changes and removes the connection.
 */
export const connection = forOperators({
  path: '/operator/carriers/:name/connection',
  async show(visit) {
    const shown = await find(visit)
    return shown === undefined ? 'not-found' : view(visit, shown)
  },
  async submit(visit, fields) {
    const shown = await find(visit)
    if (shown === undefined) return 'not-found'
    const act = fields.text('act')
    const { carrier } = shown.connection
    if (act === 'test') return test(visit, shown, fields)
    if (act === 'start') {
      await visit.backOffice.commands.setCarrierMode(carrier, 'running', `${visit.operator.name} at the portal`)
      return { goTo: `/operator/carriers/${carrier}/connection?done=started` }
    }
    const after = versionOf(fields)
    if (after === undefined) return 'not-found'
    if (act === 'remove') return remove(visit, shown, after)
    return act === 'save' ? change(visit, shown, fields, after) : 'not-found'
  },
})
