import { setTimeout as delay } from 'node:timers/promises'
import type { AccountRate } from '@gateway/core/accounts'
import type { ReportedCarrier, WaitingRoute } from '@gateway/core/fleet'
import type { Instant } from '@gateway/core/time'
import { readServer, readSeconds } from '../arguments.ts'
import { command, Refused, type Context, type Run } from '../command.ts'
import { laidOut, printable, type Row, type Size } from '../output.ts'
import { durationText, timeJson } from '../show.ts'
import { busiestRows, topHead } from './account-credits.ts'
import { carrierHead, carrierRow } from './carrier.ts'
import { endpointsBetween, requestsIn, type EndpointFigures, type RequestCounts } from './read-requests.ts'

interface Options {
  readonly every: number
  readonly metrics?: readonly string[]
}

export const top = (run: Run) =>
  command(
    'top',
    'show rates, queues, carriers, busiest accounts and slowest endpoints, updated until Ctrl-C; once with --json or without a terminal',
    'gateway top --metrics http://127.0.0.1:8080',
  )
    .option('--every <seconds>', 'seconds between updates', readSeconds, 2)
    .option(
      '--metrics <url>',
      'a server with /metrics of endpoints; repeat for each server',
      (url: string, before: readonly string[] | undefined) => [...(before ?? []), readServer(url)],
    )
    .action(({ every, metrics = [] }: Options) =>
      run(async (context) => {
        let before = await requestsOf(metrics)
        for (;;) {
          // Pause before the next reading, because the figures of endpoints are differences between two readings.
          if (metrics.length > 0) await pause(context, every)
          if (context.interruption.aborted) return
          const after = await requestsOf(metrics)
          const look = await lookAt(context, endpointsBetween(before, after, every))
          before = after
          if (!context.output.frame((size) => text(look, size))) {
            context.output.one(json(look), text(look))
            return
          }
          if (metrics.length === 0) await pause(context, every)
        }
      }),
    )

const pause = ({ interruption }: Context, seconds: number): Promise<unknown> =>
  delay(seconds * 1000, undefined, { signal: interruption }).catch(() => undefined)

const answerMilliseconds = 5000

async function requestsOf(servers: readonly string[]): Promise<readonly RequestCounts[]> {
  const all = servers.map(async (server) => {
    const answer = await fetch(new URL('/metrics', server), { signal: AbortSignal.timeout(answerMilliseconds) }).catch(
      (problem: unknown) => {
        throw new Refused(`${server} does not answer: ${(problem as Error).message}.`)
      },
    )
    if (!answer.ok) throw new Refused(`${server} has no metrics. It answered ${answer.status}.`)
    return requestsIn(await answer.text())
  })
  return Promise.all(all)
}

interface Look {
  readonly at: Instant
  readonly rates: readonly AccountRate[]
  readonly accounts: readonly Row[]
  readonly routes: readonly WaitingRoute[]
  readonly carriers: readonly ReportedCarrier[]
  readonly endpoints: readonly EndpointFigures[]
}

const accountsMax = 10
const endpointsMax = 10

async function lookAt({ backOffice, ports }: Context, endpoints: readonly EndpointFigures[]): Promise<Look> {
  const [rates, routes, carriers] = await Promise.all([
    backOffice.queries.listBusyAccounts(),
    backOffice.queries.showRoutes(),
    backOffice.queries.listCarriers(),
  ])
  const busiest = rates.toSorted((a, b) => b.messages - a.messages).slice(0, accountsMax)
  return {
    at: ports.clock.now(),
    rates,
    accounts: await busiestRows(backOffice, busiest),
    routes,
    carriers,
    endpoints: endpoints.toSorted((a, b) => b.slowSeconds - a.slowSeconds).slice(0, endpointsMax),
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
const tenths = (number: number): number => Math.round(number * 10) / 10

const json = ({ at, rates, accounts, routes, carriers, endpoints }: Look) => ({
  time: timeJson(at),
  requestRate: tenths(sum(rates.map(({ requests }) => requests))),
  messageRate: tenths(sum(rates.map(({ messages }) => messages))),
  dueNow: sum(routes.map(({ due }) => due)),
  accounts: accounts.map((row) => row.json),
  routes: routes.map(({ route, due, oldestDue }) => ({
    routeName: route ?? null,
    dueNow: due,
    oldestDue: timeJson(oldestDue),
  })),
  carriers: carriers.map((report) => carrierRow(report).json),
  endpoints: endpoints.map(({ endpoint, perSecond, slowSeconds }) => ({
    endpoint,
    requestRate: tenths(perSecond),
    slowSeconds,
  })),
})

/** Selects the columns of `carrier list` whose values change, so that a row fits into 80 characters. */
const shown = (cells: readonly string[]): readonly string[] => [0, 1, 2, 4, 5, 6].map((at) => cells[at] ?? '')

/** Formats a reading so that it fits on the terminal, both in width and in height. */
function text({ at, rates, accounts, routes, carriers, endpoints }: Look, { columns, lines }: Size = {}): string {
  const [requests, messages] = (['requests', 'messages'] as const).map((key) => sum(rates.map((rate) => rate[key])))
  const due = sum(routes.map((route) => route.due))
  const part = <One>(
    none: string,
    head: readonly string[],
    all: readonly One[],
    cells: (one: One) => readonly string[],
  ): string =>
    all.length === 0
      ? none
      : laidOut(
          head,
          all.map((one) => cells(one).map(printable)),
          columns,
        )
  const parts = [
    `Requests ${requests?.toFixed(1)}/s   accepted ${messages?.toFixed(1)}/s   due ${due}`,
    part(
      'Nothing is due.',
      ['ROUTE', 'SINGLE', 'BULK', 'WAITS FOR'],
      routes,
      ({ route = '', due, single, oldestDue }) => [
        route === '' ? '(none)' : route,
        String(single),
        String(due - single),
        durationText(at - oldestDue),
      ],
    ),
    part('No dispatcher reports a carrier, so nothing is sent.', shown(carrierHead), carriers, (report) =>
      shown(carrierRow(report).cells),
    ),
    part('No account has made a request in the last 30 seconds.', topHead, accounts, ({ cells }) => cells),
    part(
      'No requests to endpoints, or no server given (--metrics).',
      ['ENDPOINT', 'REQUESTS/S', '95 % WITHIN (S)'],
      endpoints,
      ({ endpoint, perSecond, slowSeconds }) => [endpoint, perSecond.toFixed(1), String(slowSeconds)],
    ),
  ]
  return parts.join('\n\n').split('\n').slice(0, lines).join('\n')
}
