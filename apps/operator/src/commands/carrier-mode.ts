import { setTimeout as delay } from 'node:timers/promises'
import type { CarrierId, CarrierMode } from '@gateway/core/dispatch'
import type { ReportedCarrier } from '@gateway/core/fleet'
import type { Command } from 'commander'
import { readCarrier } from '../arguments.ts'
import { command, Refused, type Context, type Run } from '../command.ts'

/** Seconds to wait until all processes have applied a mode. */
const followSeconds = 10

const DONE: Readonly<Record<CarrierMode, string>> = {
  paused: 'gets no more messages; its connections stay',
  drained: 'gets no more messages; its connections end when all answers have arrived',
  running: 'gets messages again',
}

const modeCommand = (run: Run, verb: string, mode: CarrierMode, description: string): Command =>
  command(verb, description, `gateway carrier ${verb} vodacom`)
    .argument('<name>', 'the name of the carrier', readCarrier)
    .action((carrier: CarrierId) => run((context) => setMode(context, carrier, mode)))

export const carrierPause = (run: Run) =>
  modeCommand(
    run,
    'pause',
    'paused',
    'stop submitting to a carrier, in all processes, until it is resumed; its connections stay open for receipts',
  )

export const carrierDrain = (run: Run) =>
  modeCommand(
    run,
    'drain',
    'drained',
    'pause a carrier and close its connections, in all processes, when all answers have arrived',
  )

export const carrierResume = (run: Run) =>
  modeCommand(run, 'resume', 'running', 'resume a carrier that was paused or drained')

async function setMode(context: Context, carrier: CarrierId, mode: CarrierMode): Promise<void> {
  const { backOffice, output, actor } = context
  await requireKnownCarrier(context, carrier)
  const changed = await backOffice.commands.setCarrierMode(carrier, mode, actor.by)
  const reports = await followed(context, carrier, mode)
  const late = reports.filter((one) => one.mode !== mode)
  const follow = `${reports.length - late.length} of ${reports.length} dispatchers have applied it.`
  const lines = late.map(
    ({ process: { host, pid } }) => `Process ${pid} on ${host} has not applied it yet. See its log.`,
  )
  output.result(
    { carrier, mode, changed, dispatchers: reports.length, following: reports.length - late.length },
    [changed ? `The carrier ${carrier} ${DONE[mode]}. ${follow}` : `Nothing changed. ${follow}`, ...lines].join('\n'),
  )
}

/** Throws a Refused for a name that no stored, reported or paused carrier has, so that a typing error is noticed. */
export async function requireKnownCarrier(
  { ports, backOffice }: Pick<Context, 'ports' | 'backOffice'>,
  carrier: CarrierId,
): Promise<void> {
  const stored = (await ports.carrierVersions.latest())?.carriers ?? []
  const reported = (await backOffice.queries.listCarriers()).map((one) => one.carrier)
  const paused = (await backOffice.queries.listHeldCarriers()).map((one) => one.carrier)
  const known = [...new Set([...stored, ...reported, ...paused])]
  if (known.includes(carrier)) return
  throw new Refused(
    `There is no carrier ${carrier}. ${known.length === 0 ? 'There are no carriers' : `The carriers are ${known.join(', ')}`}.`,
  )
}

/** Waits until all processes with the carrier have applied the mode, at most `followSeconds`. Returns their reports. */
async function followed(context: Context, carrier: CarrierId, mode: CarrierMode): Promise<readonly ReportedCarrier[]> {
  const { backOffice, interruption } = context
  const end = performance.now() + followSeconds * 1000
  for (;;) {
    const reports = (await backOffice.queries.listCarriers()).filter((one) => one.carrier === carrier && !one.isStale)
    if (reports.every((one) => one.mode === mode) || performance.now() > end || interruption.aborted) return reports
    await delay(100)
  }
}
