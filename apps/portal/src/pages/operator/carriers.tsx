import { carrierId, isConnected, type CarrierMode } from '@gateway/core/dispatch'
import type { PrefixFigures, ReportedCarrier } from '@gateway/core/fleet'
import { Figures, Form, Hidden, Link, Notice, Panel, Pill, Second, Table, When } from '../../components.tsx'
import { count } from '../../format.ts'
import { forOperators, type OperatorVisit, type View } from '../../page.ts'
import type { Tone } from '../../words.ts'

/** Returns the state of a carrier at one dispatcher, in a word. */
export function carrierState({ isStale, mode, status }: ReportedCarrier): {
  readonly word: string
  readonly tone: Tone
} {
  if (isStale) return { word: 'not reporting', tone: 'idle' }
  if (mode !== 'running') return { word: mode, tone: 'wait' }
  if (status === undefined) return { word: 'ready', tone: 'good' }
  if (!isConnected(status)) return { word: 'not bound', tone: 'bad' }
  if (status.circuit !== undefined && status.circuit.state !== 'closed')
    return { word: `circuit ${status.circuit.state}`, tone: status.circuit.state === 'open' ? 'bad' : 'wait' }
  if (status.isThrottled) return { word: 'throttled', tone: 'wait' }
  return { word: status.links === undefined ? 'ready' : 'bound', tone: 'good' }
}

const State = ({ of }: { readonly of: ReportedCarrier }) => {
  const { word, tone } = carrierState(of)
  return <Pill tone={tone}>{word}</Pill>
}

/** `/operator/carriers`: lists each carrier of each dispatcher, and the waiting messages by route. */
export const carriers = forOperators({
  path: '/operator/carriers',
  async show({ backOffice }) {
    const [reports, routes] = await Promise.all([backOffice.queries.listCarriers(), backOffice.queries.showRoutes()])
    return {
      title: 'Carriers',
      place: 'carriers',
      live: true,
      main: (
        <>
          <h1>Carriers</h1>
          <Panel live="carriers">
            <Table
              caption="Carriers of each dispatcher"
              rows={reports}
              empty="No dispatcher reports a carrier: nothing is sent. Start a dispatcher, and connect a provider."
              columns={[
                {
                  head: 'Carrier',
                  cell: ({ carrier }) => <Link to={`/operator/carriers/${carrier}`}>{carrier}</Link>,
                },
                { head: 'Dispatcher', cell: ({ process }) => `${process.host} ${process.pid}` },
                { head: 'State', cell: (one) => <State of={one} /> },
                { head: 'Unanswered', cell: ({ unanswered }) => count(unanswered), number: true },
                { head: 'Window', cell: ({ window }) => count(window), number: true },
                { head: 'A second', cell: ({ status }) => status?.perSecond?.toFixed(1) ?? '', number: true },
                {
                  head: 'Overflow',
                  cell: ({ overflowed }) => (overflowed === undefined ? '' : count(overflowed)),
                  number: true,
                },
                { head: 'Last error', cell: ({ status }) => status?.lastError ?? '' },
              ]}
            />
            <p class="hint">
              <Link to="/operator/connect">Connect a provider, or see its connection</Link>
              {' · '}
              <Link to="/operator/routes">Which route does a number take?</Link>
            </p>
          </Panel>
          <Panel title="Waiting messages" live="routes">
            <Table
              caption="Messages that are due, by route"
              rows={routes}
              empty="Nothing is due."
              columns={[
                { head: 'Route', cell: ({ route }) => route ?? 'none' },
                { head: 'Due', cell: ({ due }) => count(due), number: true },
                { head: 'Oldest', cell: ({ oldestDue }) => <When at={oldestDue} /> },
              ]}
            />
          </Panel>
        </>
      ),
    }
  },
})

const MODES: Readonly<Record<CarrierMode, string>> = {
  running: 'Resume',
  paused: 'Pause: submit nothing more, keep the connections',
  drained: 'Drain: pause, and end the connections',
}

const modeOf = (text: string): CarrierMode | undefined =>
  text === 'running' || text === 'paused' || text === 'drained' ? text : undefined

async function view({ backOffice, operator, parameters, query }: OperatorVisit): Promise<View | 'not-found'> {
  const name = carrierId(parameters.name ?? '')
  const reports = (await backOffice.queries.listCarriers()).filter(({ carrier }) => carrier === name)
  if (name === undefined || reports.length === 0) return 'not-found'
  const [figures, heldCarriers] = await Promise.all([
    backOffice.queries.carrierFigures(name),
    backOffice.queries.listHeldCarriers(),
  ])
  const hold = heldCarriers.find(({ carrier }) => carrier === name)
  const modes = (['paused', 'drained', 'running'] as const).filter((mode) => mode !== (hold?.mode ?? 'running'))
  return {
    title: `Carrier ${name}`,
    place: 'carriers',
    live: true,
    main: (
      <>
        {query.has('done') && <Notice>The dispatchers apply this within seconds.</Notice>}
        <h1>Carrier {name}</h1>
        <div id="hold" data-live="">
          {hold !== undefined && (
            <Notice tone="wait">
              It is {hold.mode} since <When at={hold.since} />, by {hold.by}. Nothing is submitted to it.
            </Notice>
          )}
        </div>
        {reports.map((one) => (
          <Panel
            key={one.process.id}
            title={`${one.process.host}, process ${one.process.pid}`}
            live={`at-${one.process.id}`}
          >
            <Figures
              of={[
                ['State', <State of={one} />],
                ['Unanswered', `${count(one.unanswered)} of ${count(one.window)}`],
                ['Receipts', count(one.status?.receipts.received ?? 0)],
                ['Unmatched receipts', count(one.status?.receipts.missed ?? 0)],
                ['Unreadable', count(one.status?.unreadable ?? 0)],
                ['Taken over from full carriers', count(one.overflowed ?? 0)],
                ...(one.status?.facts ?? []),
              ]}
            />
            {one.status?.lastError !== undefined && <p class="hint">Last error: {one.status.lastError}</p>}
          </Panel>
        ))}
        <Panel title="Outcomes of messages" live="figures">
          <Table<PrefixFigures>
            caption="By calling code, in the last hour and the last day"
            rows={figures}
            empty="Nothing was sent over this carrier in the last day."
            columns={[
              { head: 'Numbers', cell: ({ prefix }) => prefix },
              { head: 'Delivered, hour', cell: ({ hour }) => count(hour.delivered), number: true },
              { head: 'Failed', cell: ({ hour }) => count(hour.failed), number: true },
              { head: 'Unknown', cell: ({ hour }) => count(hour.unknown), number: true },
              { head: 'Delivered, day', cell: ({ day }) => count(day.delivered), number: true },
              { head: 'Failed, day', cell: ({ day }) => count(day.failed), number: true },
              { head: 'Unknown, day', cell: ({ day }) => count(day.unknown), number: true },
            ]}
          />
        </Panel>
        {operator.role === 'admin' && (
          <Panel title="Pause or drain" live="modes">
            {modes.map((mode) => (
              <Form key={mode} to={`/operator/carriers/${name}`}>
                <Hidden name="mode" value={mode} />
                <Second>{MODES[mode]}</Second>
              </Form>
            ))}
          </Panel>
        )}
      </>
    ),
  }
}

/**
 * `/operator/carriers/<name>`: shows the state of a carrier at each dispatcher and the outcomes of messages. Pauses,
 * drains and resumes the carrier.
 */
export const carrier = forOperators({
  path: '/operator/carriers/:name',
  show: view,
  async submit({ backOffice, operator, parameters }, fields) {
    const name = carrierId(parameters.name ?? '')
    const mode = modeOf(fields.text('mode'))
    const isKnown = (await backOffice.queries.listCarriers()).some(
      ({ carrier: reportedCarrier }) => reportedCarrier === name,
    )
    if (name === undefined || mode === undefined || !isKnown) return 'not-found'
    await backOffice.commands.setCarrierMode(name, mode, `${operator.name} at the portal`)
    return { goTo: `/operator/carriers/${name}?done=1` }
  },
})
