import { setTimeout as delay } from 'node:timers/promises'
import type { CarrierId, CarrierMode } from '@gateway/core/dispatch'
import type { ToldCarrier } from '@gateway/core/fleet'
import type { Command } from 'commander'
import { readCarrier } from '../arguments.ts'
import { command, Refused, type Context, type Run } from '../command.ts'

/** So long it is waited for the processes that are to follow. */
const followSeconds = 10

const DONE: Readonly<Record<CarrierMode, string>> = {
  paused: 'gets no more messages; its connections stay',
  drained: 'gets no more messages; its connections end once nothing is unanswered',
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
    'submit nothing more to a carrier, in all processes, until it is resumed; its connections stay and bring receipts',
  )

export const carrierDrain = (run: Run) =>
  modeCommand(
    run,
    'drain',
    'drained',
    'pause a carrier, and end its connections in all processes once nothing is unanswered',
  )

export const carrierResume = (run: Run) =>
  modeCommand(run, 'resume', 'running', 'let a carrier that was paused or drained go on')

async function setMode(context: Context, carrier: CarrierId, mode: CarrierMode): Promise<void> {
  const { backOffice, output, actor } = context
  await refuseStrangers(context, carrier)
  const changed = await backOffice.setCarrierMode(carrier, mode, actor.by)
  const told = await followed(context, carrier, mode)
  const late = told.filter((one) => one.mode !== mode)
  const follow = `${told.length - late.length} of ${told.length} dispatchers follow.`
  const lines = late.map(({ process: { host, pid } }) => `Process ${pid} on ${host} does not follow yet: see its log.`)
  output.result(
    { carrier, mode, changed, dispatchers: told.length, following: told.length - late.length },
    [changed ? `The carrier ${carrier} ${DONE[mode]}. ${follow}` : `It was so before. ${follow}`, ...lines].join('\n'),
  )
}

/** A name that was mistyped pauses nothing. */
export async function refuseStrangers(
  { ports, backOffice }: Pick<Context, 'ports' | 'backOffice'>,
  carrier: CarrierId,
): Promise<void> {
  const stored = (await ports.carrierVersions.latest())?.carriers ?? []
  const told = (await backOffice.listCarriers()).map((one) => one.carrier)
  const held = (await backOffice.listHeldCarriers()).map((one) => one.carrier)
  const known = [...new Set([...stored, ...told, ...held])]
  if (known.includes(carrier)) return
  throw new Refused(`There is no carrier ${carrier}; there is ${known.length === 0 ? 'none' : known.join(', ')}.`)
}

/** What the processes tell that have the carrier, once all of them follow, or after a while. */
async function followed(context: Context, carrier: CarrierId, mode: CarrierMode): Promise<readonly ToldCarrier[]> {
  const { backOffice, interruption } = context
  const end = performance.now() + followSeconds * 1000
  for (;;) {
    const told = (await backOffice.listCarriers()).filter((one) => one.carrier === carrier && !one.isStale)
    if (told.every((one) => one.mode === mode) || performance.now() > end || interruption.aborted) return told
    await delay(100)
  }
}
