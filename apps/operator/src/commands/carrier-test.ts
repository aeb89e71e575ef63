import { bodyOf, type Msisdn, type SenderAddress } from '@gateway/core/messages'
import type {
  CarrierBinds,
  CarrierConfiguration,
  CarrierPorts,
  CarrierSpecification,
  CarrierTrial,
  SeenPdu,
  TrialResult,
} from '@gateway/carriers'
import { readCode, readNumber, readSeconds } from '../arguments.ts'
import { openVersion } from './carrier-versions.ts'
import { pduText } from './carrier-pdu.ts'
import { command, Refused, type Context, type Run, type RunAlone, type Variables } from '../command.ts'
import { outcomeText } from '../show.ts'
import { printable, type Json } from '../output.ts'

interface Options {
  readonly to: Msisdn
  readonly from?: SenderAddress
  readonly text: string
  readonly wait: number
}

export const carrierTest = (run: Run, runAlone: RunAlone) =>
  command(
    'test',
    'send one message through a carrier of CARRIERS, or a stored carrier, over a separate connection, and show every PDU or request; the message is neither charged nor stored',
    'gateway carrier test vodacom --to 27825550101',
  )
    .argument('<name>', 'the name of the carrier')
    .requiredOption('--to <number>', 'a mobile number, which really receives the message', readNumber)
    .option('--from <address>', 'the sender address; default: the one that the carrier sets', readCode)
    .option('--text <text>', 'the text', 'Test')
    .option('--wait <seconds>', 'seconds to wait for delivery receipts', readSeconds, 30)
    .action((name: string, options: Options) =>
      runAlone(async ({ output, interruption, variables }) => {
        const begin = (carriers: Carriers) => ({ ...prepare(name, options, carriers), interruption })
        const configured = await carriersOf(variables)
        if (configured === undefined) {
          await run(async ({ ports }) => show(output, begin(await storedCarriers(ports)), ports.carrierBinds))
          return
        }
        if (configured.unresolved.length > 0) {
          await run(async ({ ports }) => show(output, begin(await resolved(configured, ports)), ports.carrierBinds))
          return
        }
        const trial = begin({ by: 'CARRIERS', ...configured })
        if (bindsMaxOf(trial.carrier) === undefined) await show(output, trial, undefined)
        else await run(({ ports }) => show(output, trial, ports.carrierBinds))
      }),
    )

const bindsMaxOf = (carrier: CarrierTrial['carrier']): number | undefined =>
  carrier.kind === 'smpp' ? carrier.settings.bindsMax : undefined

type Prepared = Pick<CarrierTrial, 'carrier' | 'message' | 'receiptSeconds'>

interface Carriers {
  /** Name of the source of the carriers, as messages show it. */
  readonly by: string
  readonly carriers: readonly CarrierSpecification[]
}

/** Reads CARRIERS. Returns undefined if it is not set. */
async function carriersOf(variables: Variables): Promise<CarrierConfiguration | undefined> {
  const text = variables['CARRIERS']?.trim() ?? ''
  if (text === '') return undefined
  const { readConfiguration } = await import('@gateway/carriers')
  return readConfiguration(text, variables).catch(refuse)
}

function refuse(problem: unknown): never {
  throw new Refused((problem as Error).message)
}

async function resolved(configuration: CarrierConfiguration, ports: CarrierPorts): Promise<Carriers> {
  const { withStoredSecrets } = await import('@gateway/carriers')
  const { carriers } = await withStoredSecrets(configuration, ports).catch(refuse)
  return { by: 'CARRIERS', carriers }
}

async function storedCarriers(ports: CarrierPorts): Promise<Carriers> {
  const latest = await ports.carrierVersions.latest()
  if (latest === undefined) throw new Refused('No carriers are stored and CARRIERS is not set.')
  const { carriers } = await openVersion(latest, ports)
  return { by: `Version ${latest.version} of the carriers`, carriers }
}

function prepare(name: string, { to, from, text, wait }: Options, { by, carriers }: Carriers): Prepared {
  const body = bodyOf(text)
  if (typeof body === 'string') throw new Refused(`The text cannot be sent: ${body}.`)
  const carrier = carriers.find(({ id }) => id === name)
  if (carrier === undefined) {
    throw new Refused(`${by} has no carrier ${name}. Its carriers: ${carriers.map(({ id }) => id).join(', ')}.`)
  }
  if (carrier.kind === 'simulator') {
    throw new Refused(
      `${name} is simulated and has no PDUs. Use 'gateway send' and 'gateway message explain' to see what it does.`,
    )
  }
  return { carrier, message: { from, to, body }, receiptSeconds: wait }
}

async function show(
  output: Context['output'],
  trial: Omit<CarrierTrial, 'saw'>,
  binds: CarrierBinds | undefined,
): Promise<void> {
  const { tryCarrier } = await import('@gateway/carriers')
  const { id } = trial.carrier
  const pdus: SeenPdu[] = []
  output.line(`${connectionText(trial.carrier)}. The message is neither charged nor stored.`)
  const saw = (pdu: SeenPdu): void => {
    pdus.push(pdu)
    output.line(pduText(new Date(pdu.at).toISOString().slice(11, 23), pdu.direction, pdu.fields))
  }
  const result = await tryCarrier({ ...trial, saw }, binds)
  if (result === 'no-bind') {
    const bindsMax = bindsMaxOf(trial.carrier) ?? 0
    throw new Refused(
      bindsMax === 1 ? `The only bind of ${id} is in use.` : `All ${bindsMax} binds of ${id} are in use.`,
    )
  }
  output.result(resultJson(id, pdus, result), resultText(result, noReceiptTexts[trial.carrier.kind]))
  const refused = result.parts.find(({ reference }) => reference === undefined)
  if (refused !== undefined) throw new Refused(`${id} did not accept the message: ${refused.answer}.`)
  if (result.parts.length === 0) throw new Refused(`${id} could not be used: ${result.problem ?? 'interrupted'}.`)
}

const resultJson = (carrier: string, pdus: readonly SeenPdu[], { problem, parts }: TrialResult): Json => ({
  carrier,
  problem: problem ?? null,
  parts: parts.map(({ answer, reference, receipt }) => ({
    answer,
    carrierId: reference ?? null,
    receipt: receipt === undefined ? null : outcomeText(receipt),
  })),
  pdus: pdus.map(({ at, direction, fields }) => ({
    time: new Date(at).toISOString(),
    direction,
    fields: fields as Record<string, Json>,
  })),
})

const connectionText = (carrier: CarrierTrial['carrier']): string =>
  carrier.kind === 'smpp'
    ? `Separate bind to ${carrier.settings.host}:${carrier.settings.port}`
    : 'One request over a separate connection'

const noReceiptTexts = {
  smpp: 'no receipt arrived here in time; a dispatcher with the same system id may have got it, and counts it as missed',
  http: 'receipts arrive as callbacks and are not shown here',
} as const satisfies Record<CarrierTrial['carrier']['kind'], string>

function resultText({ problem, parts }: TrialResult, noReceipt: string): string {
  const lines = parts.map(({ answer, reference, receipt }, at) => {
    const outcome =
      reference === undefined
        ? answer
        : `${answer}, id ${reference}, ${receipt === undefined ? noReceipt : outcomeText(receipt)}`
    return `Part ${at + 1} of ${parts.length}: ${outcome}.`
  })
  return [...lines, ...(problem === undefined ? [] : [`The connection ended: ${problem}.`])].map(printable).join('\n')
}
