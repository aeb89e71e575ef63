import type { ConnectableProvider, ConnectionObstacle, StoredConnections } from '@gateway/core/fleet'
import { Link, Main, Notice, Panel, ProblemSummary, Table } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { forOperators, type OperatorVisit, type View } from '../../page.ts'
import { ConnectionForm, fieldsOf, problemsOf, versionOf, type ShownFields } from './connection-form.tsx'

const OBSTACLE: Readonly<Record<ConnectionObstacle['is'], string>> = {
  'no-key': 'Secrets cannot be stored here, because SECRETS_KEY is not set.',
  'other-key': 'Secrets cannot be stored here, because they were stored with another key than this process has.',
  unreadable: 'The stored carriers cannot be changed here, because this process cannot read them.',
}

export const ObstacleNotice = ({ of }: { readonly of: ConnectionObstacle }) => (
  <Notice tone="bad">
    <strong>{OBSTACLE[of.is]}</strong>{' '}
    {of.is === 'no-key'
      ? 'Set it to the same key in all processes, or name variables or files in the carriers document.'
      : of.reason}
  </Notice>
)

/** `/operator/connect`: lists the providers that can be connected and the providers that are connected. */
export const connect = forOperators({
  path: '/operator/connect',
  async show({ backOffice }) {
    const providers = backOffice.queries.listProviders()
    const stored = await backOffice.queries.storedConnections()
    if (providers === undefined || stored === undefined) return 'not-found'
    return {
      title: 'Connect a provider',
      place: 'carriers',
      main: (
        <>
          <h1>Connect a provider</h1>
          <p>
            Choose the provider that sends your messages over HTTP. Nothing is sent before you have tried the connection
            and started it.
          </p>
          {stored.obstacle !== undefined && <ObstacleNotice of={stored.obstacle} />}
          <Panel>
            <Table
              caption="Providers"
              rows={providers}
              empty="There are no providers."
              columns={[
                { head: 'Provider', cell: ({ name, title }) => <Link to={`/operator/connect/${name}`}>{title}</Link> },
                { head: 'You need', cell: neededOf },
              ]}
            />
            <p class="hint">
              Another provider can be described in the carriers document, and carriers over SMPP are configured there,
              too.
            </p>
          </Panel>
          <Panel>
            <Table
              caption="Connected providers"
              rows={stored.connections}
              empty="No provider is connected over HTTP yet."
              columns={[
                {
                  head: 'Carrier',
                  cell: ({ carrier }) => <Link to={`/operator/carriers/${carrier}/connection`}>{carrier}</Link>,
                },
                {
                  head: 'Provider',
                  cell: ({ provider }) =>
                    providers.find(({ name }) => name === provider)?.title ?? 'described in the document',
                },
              ]}
            />
          </Panel>
        </>
      ),
    }
  },
})

const neededOf = ({ secrets, needsBaseUrl }: ConnectableProvider): string =>
  [
    ...secrets.filter(({ isRequired }) => isRequired).map(({ label }) => label),
    ...(needsBaseUrl ? ['Base URL'] : []),
  ].join(', ')

interface Prepared {
  readonly provider: ConnectableProvider
  readonly stored: StoredConnections
}

async function prepare({ backOffice, parameters }: OperatorVisit): Promise<Prepared | undefined> {
  const provider = backOffice.queries.listProviders()?.find(({ name }) => name === parameters.provider)
  const stored = provider && (await backOffice.queries.storedConnections())
  return provider && stored && { provider, stored }
}

/** Returns the name of the provider as the name of a carrier, with a number if it is in use. */
function freeName(provider: string, { connections, others }: StoredConnections): string {
  const used = new Set<string>([...connections.map(({ carrier }) => carrier), ...others])
  for (let number = 1; ; number++) {
    const name = number === 1 ? provider : `${provider}-${number}`
    if (!used.has(name)) return name
  }
}

/** Returns the address of the gateway as the browser sees it: the page without its path. */
const originOf = ({ here }: OperatorVisit): string => here?.href.replace(/\/operator\/.*$/, '') ?? ''

const suggested = (visit: OperatorVisit, { provider, stored }: Prepared): ShownFields => ({
  ...{ carrier: freeName(provider.name, stored), from: '', baseUrl: '' },
  publicUrl: stored.publicUrl ?? originOf(visit),
})

function Consequence({ of }: { readonly of: StoredConnections }) {
  const { version, routes, connections, others } = of
  const carriers = [...others, ...connections.map(({ carrier }) => carrier)]
  if (version === 0)
    return (
      <p>
        So far messages go to the simulated carrier, which reaches nobody. From now on they go to this carrier only, and
        wait until you start it.
      </p>
    )
  if (routes.length === 0)
    return (
      <p>
        There are no routes. Once you start this carrier, it gets a share of all messages, beside {carriers.join(', ')}.
      </p>
    )
  return (
    <p>
      Routes decide which carrier gets a message ({routes.join(', ')}). Add this carrier to a route in the carriers
      document, or it gets none.
    </p>
  )
}

/** Entry of the carriers document that names variables instead of secrets. */
const entryText = ({ name, secrets, needsBaseUrl }: ConnectableProvider): string =>
  JSON.stringify(
    {
      ...{ name, type: 'http', provider: name },
      ...(needsBaseUrl && { baseUrl: 'https://…' }),
      secrets: Object.fromEntries(
        secrets
          .filter(({ isRequired }) => isRequired)
          .map((secret) => [
            secret.name,
            { environment: `${name}_${secret.name}`.toUpperCase().replace(/^(?=\d)/, 'SMS_') },
          ]),
      ),
      from: '…',
    },
    undefined,
    2,
  )

function view(
  visit: OperatorVisit,
  prepared: Prepared,
  { problems = {}, notice, shown }: { problems?: Problems; notice?: string; shown?: ShownFields } = {},
): View {
  const { provider, stored } = prepared
  const { '': general, ...ofFields } = problemsOf(problems)
  const isWrong = notice !== undefined || Object.keys(problems).length > 0
  return {
    title: `Connect ${provider.title}`,
    place: 'carriers',
    status: isWrong ? 422 : 200,
    main: (
      <>
        <p>
          <Link to="/operator/connect">Connect a provider</Link>
        </p>
        <ProblemSummary problems={ofFields} />
        {[notice, general].map((text) => text !== undefined && <Notice tone="bad">{text}</Notice>)}
        <h1>Connect {provider.title}</h1>
        <Panel title="First, at the provider">
          <Steps of={provider.accountSteps} />
        </Panel>
        {stored.obstacle === undefined ? (
          <Panel title="Then, here">
            <Consequence of={stored} />
            {visit.operator.role === 'admin' ? (
              <ConnectionForm
                {...{ to: `/operator/connect/${provider.name}`, provider, stored, problems: ofFields }}
                shown={shown ?? suggested(visit, prepared)}
              >
                <Main>Connect</Main>
              </ConnectionForm>
            ) : (
              <p class="soft">Your role may look at this, but may not change it.</p>
            )}
            <p class="hint">
              The secrets are stored encrypted. No page, log, report or list shows them. Start the processes without
              CARRIERS from now on: with it they refuse to start, unless it has this carrier, too.
            </p>
          </Panel>
        ) : (
          <ObstacleNotice of={stored.obstacle} />
        )}
        <details>
          <summary>Use variables or files instead</summary>
          <p>
            Add this to the carriers document. The secrets stay in variables of the processes. A file is named by{' '}
            <code>{'{"file": "path"}'}</code>. Then run <code>gateway carrier apply FILE</code> where these variables
            are set.
          </p>
          <pre tabIndex={0}>{entryText(provider)}</pre>
        </details>
      </>
    ),
  }
}

export const Steps = ({ of }: { readonly of: readonly string[] }) => (
  <ol>
    {of.map((step) => (
      <li key={step}>{step}</li>
    ))}
  </ol>
)

export const outdated =
  'Somebody has stored other carriers in the meantime, so nothing was stored. Check the fields, enter the secrets again, and try again.'

/** `/operator/connect/<provider>`: connects a provider as a new carrier. */
export const connectProvider = forOperators({
  path: '/operator/connect/:provider',
  async show(visit) {
    const prepared = await prepare(visit)
    return prepared === undefined ? 'not-found' : view(visit, prepared)
  },
  async submit(visit, fields) {
    const prepared = await prepare(visit)
    const after = versionOf(fields)
    if (prepared === undefined || after === undefined) return 'not-found'
    const { backOffice, operator } = visit
    const entered = fieldsOf(prepared.provider, fields.trimmed('carrier'), fields)
    const result = await backOffice.commands.connectProvider(entered, after, `${operator.name} at the portal`)
    if (typeof result === 'number') return { goTo: `/operator/carriers/${entered.carrier}/connection?done=connected` }
    if (result === 'outdated') return view(visit, prepared, { notice: outdated, shown: entered })
    if (typeof result === 'object') return view(visit, prepared, { problems: result.problems, shown: entered })
    return 'not-found'
  },
})
