import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { withoutSomeDigits } from '@gateway/core/audit'
import type { CarrierId } from '@gateway/core/dispatch'
import type { CarrierWatch, WatchedTraffic } from '@gateway/core/fleet'
import type { Msisdn } from '@gateway/core/messages'
import { readCarrier, readStoredNumber, readSeconds } from '../arguments.ts'
import { command, Refused, type Context, type Run } from '../command.ts'
import type { Json } from '../output.ts'
import { requireKnownCarrier } from './carrier-mode.ts'
import { pduText } from './carrier-pdu.ts'

interface Options {
  readonly to?: Msisdn
  readonly text?: true
  readonly seconds: number
}

export const carrierWatch = (run: Run) =>
  command(
    'watch',
    'show the requests and responses of a carrier (PDUs, or HTTP) from all processes; never passwords, and texts only with --text',
    'gateway carrier watch vodacom --to 27825550101',
  )
    .argument('<name>', 'the name of the carrier', readCarrier)
    .option('--to <number>', 'only requests to or from this number, and their responses', readStoredNumber)
    .option('--text', 'also the texts of messages')
    .option('--seconds <seconds>', 'end after this many seconds', readSeconds, 60)
    .action((carrier: CarrierId, { to, text, seconds }: Options) =>
      run(async (context) => {
        await requireKnownCarrier(context, carrier)
        const reports = await context.backOffice.queries.listCarriers()
        if (!reports.some((one) => one.carrier === carrier && !one.isStale && one.status !== undefined))
          throw new Refused(`No running process has a connection to ${carrier}.`)
        let leftOut = 0
        const watch = { id: randomUUID(), carrier, number: to, hasText: text === true }
        async function* rows() {
          for await (const pdu of watched(context, watch, seconds)) {
            leftOut += pdu.leftOut
            yield { json: json(pdu), text: textOf(pdu) }
          }
        }
        const options = { carrier, number: to && withoutSomeDigits(to), withText: watch.hasText, seconds }
        const look = () => context.output.stream(rows(), () => ({ json: { leftOut } }))
        await context.change({ action: 'watchCarrier', given: options }, look)
        if (leftOut > 0)
          context.output.note(
            leftOut === 1
              ? '1 more request or response was not shown, because there were too many.'
              : `${leftOut} more requests and responses were not shown, because there were too many.`,
          )
      }),
    )

/** Seconds after which a watch ends if its command has died. */
const watchSeconds = 15
const renewMilliseconds = 5000
const takeMilliseconds = 250
const countMax = 1000

async function* watched(
  { ports: { fleet }, interruption }: Context,
  watch: CarrierWatch,
  seconds: number,
): AsyncIterable<WatchedTraffic> {
  const end = performance.now() + seconds * 1000
  let renewedAt = -Infinity
  try {
    while (performance.now() < end && !interruption.aborted) {
      if (performance.now() - renewedAt >= renewMilliseconds) {
        renewedAt = performance.now()
        await fleet.renewWatch(watch, watchSeconds)
      }
      yield* await fleet.takeTraffic(watch.id, countMax)
      await delay(takeMilliseconds, undefined, { signal: interruption }).catch(() => undefined)
    }
    if (!interruption.aborted) yield* await fleet.takeTraffic(watch.id, countMax)
  } finally {
    // After an interruption the command cannot use the database. The watch then ends by itself after `watchSeconds`.
    if (!interruption.aborted) await fleet.endWatch(watch.id)
  }
}

const timeOf = ({ at }: WatchedTraffic): string => new Date(at).toISOString()

const json = (pdu: WatchedTraffic): Json => ({
  ...{ time: timeOf(pdu), host: pdu.host, pid: pdu.pid, role: pdu.role, direction: pdu.direction },
  fields: pdu.fields as Record<string, Json>,
})

const textOf = (pdu: WatchedTraffic): string =>
  pduText(`${timeOf(pdu).slice(11, 23)} ${pdu.host}:${pdu.pid}`, pdu.direction, pdu.fields)
