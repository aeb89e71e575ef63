import { setTimeout as delay } from 'node:timers/promises'
import type { CarrierConfiguration, CarrierPorts, CarrierDifference } from '@gateway/carriers'
import type { CarrierUser, CarrierVersion } from '@gateway/core/fleet'
import { requireKeyInUse, UnusableKeyError } from '@gateway/core/webhooks'
import { readVersion } from '../arguments.ts'
import { Refused, command, type Context, type Run, type RunAlone, type Variables } from '../command.ts'
import type { Json, Row } from '../output.ts'
import { timeJson, timeText } from '../show.ts'
import { withKeyInUse } from '../webhook-words.ts'

/** Decrypts a version of the carriers. Throws a Refused if it cannot be read with the keys of this command. */
export async function openVersion(version: CarrierVersion, ports: CarrierPorts): Promise<CarrierConfiguration> {
  const { openCarriers } = await import('@gateway/carriers')
  return openCarriers(version, ports).catch((problem: unknown) => {
    const { message, cause } = problem as Error
    if (cause instanceof UnusableKeyError) throw cause
    throw new Refused(message.charAt(0).toUpperCase() + message.slice(1))
  })
}

export const userJson = ({ process: { host, pid }, version }: CarrierUser): Json => ({
  host,
  pid,
  carriersVersion: version,
})

const head = ['VERSION', 'STORED (GMT+2)', 'DIGEST', 'CARRIERS', 'PROCESSES', 'STORED BY']
const listMax = 1000

export const carrierVersions = (run: Run) =>
  command(
    'versions',
    'list the stored versions of the carriers document, the present one first, with the processes that use each',
    'gateway carrier versions',
  )
    .argument('[version]', 'show this version, without passwords', readVersion)
    .action((version: number | undefined) =>
      run((context) => (version === undefined ? list(context) : show(context, version))),
    )

async function list({ ports, output }: Context): Promise<void> {
  const { carrierVersions: versions } = ports
  const [all, users] = [await versions.list(listMax), await ports.fleet.users()]
  await output.rows(
    head,
    all.map((one) => row(one, users)),
  )
  if (all.length === 0) output.note('No version is stored. Without CARRIERS a process uses the simulated carrier.')
  const without = users.filter(({ version }) => version === 0)
  for (const { process } of without)
    output.note(`Process ${process.pid} on ${process.host} uses simulated carriers, which are not stored.`)
}

const usersOf = ({ version }: CarrierVersion, users: readonly CarrierUser[]) =>
  users.filter((user) => user.version === version)

const versionJson = (one: CarrierVersion, users: readonly CarrierUser[]) => ({
  carriersVersion: one.version,
  storedTime: timeJson(one.storedAt),
  storedBy: one.storedBy,
  digest: one.digest,
  carriers: one.carriers,
  processes: usersOf(one, users).map(userJson),
})

const row = (one: CarrierVersion, users: readonly CarrierUser[]): Row => ({
  json: versionJson(one, users),
  cells: [
    String(one.version),
    timeText(one.storedAt),
    one.digest.slice(0, 12),
    one.carriers.join(', '),
    usersOf(one, users)
      .map(({ process: { host, pid } }) => `${host}:${pid}`)
      .join(', '),
    one.storedBy,
  ],
})

async function show({ ports, output }: Context, version: number): Promise<void> {
  const found = await ports.carrierVersions.find(version)
  if (found === undefined) throw new Refused(`There is no version ${version} of the carriers.`)
  const { source } = await openVersion(found, ports)
  const { withoutPasswords } = await import('@gateway/carriers')
  const document = withoutPasswords(source.document) as Json
  const users = await ports.fleet.users()
  output.one({ ...versionJson(found, users), document }, JSON.stringify(document, undefined, 2))
}

interface Options {
  readonly stored?: number
  readonly dryRun?: boolean
  readonly despiteKey?: boolean
}

/** Seconds to wait until all processes work with a new version. */
const followSeconds = 15

export const carrierApply = (run: Run, runAlone: RunAlone) =>
  command(
    'apply',
    'store a carriers document for all processes, which apply it at once; needs the environment of the server',
    'gateway carrier apply /etc/gateway/carriers.json',
  )
    .argument('[file]', 'the path of the file; default: the value of CARRIERS')
    .option('--stored <version>', 'apply a stored version again', readVersion)
    .option('--dry-run', 'show what would change without changing it')
    .option(
      '--despite-key',
      'proceed even if the present version cannot be read with SECRETS_KEY because the key was lost',
    )
    .action((file: string | undefined, options: Options) =>
      runAlone(async ({ variables }) => {
        const { stored } = options
        if (file !== undefined && stored !== undefined) throw new Refused('Use either a file or --stored.', 2)
        const document = stored === undefined ? await readDocument(file, variables) : undefined
        await run(async (context) => apply(context, document ?? (await openStored(context.ports, stored)), options))
      }),
    )

async function readDocument(file: string | undefined, variables: Variables): Promise<CarrierConfiguration> {
  const { readConfiguration, readFileConfiguration } = await import('@gateway/carriers')
  const carriers = variables['CARRIERS']?.trim() ?? ''
  if (file === undefined && carriers === '') throw new Refused('Name a file, because CARRIERS is not set.', 2)
  const reading = file === undefined ? readConfiguration(carriers, variables) : readFileConfiguration(file, variables)
  return reading.catch((problem: unknown) => {
    throw new Refused((problem as Error).message)
  })
}

async function openStored(ports: CarrierPorts, version = 0): Promise<CarrierConfiguration> {
  const found = await ports.carrierVersions.find(version)
  if (found === undefined) throw new Refused(`There is no version ${version} of the carriers.`)
  return openVersion(found, ports)
}

async function apply(context: Context, file: CarrierConfiguration, { dryRun, despiteKey }: Options): Promise<void> {
  const { output, ports, change, actor } = context
  const { differenceText, storeCarriers, withStoredSecrets } = await import('@gateway/carriers')
  const next = await withStoredSecrets(file, ports).catch((problem: unknown) => {
    throw new Refused((problem as Error).message)
  })
  const latest = await ports.carrierVersions.latest()
  const after = latest?.version ?? 0
  const differences = await differencesFrom(context, latest, next, despiteKey === true)
  const before = after === 0 ? 'nothing' : `version ${after}`
  if (differences?.length === 0) {
    output.result({ changed: false, carriersVersion: after, differences: [] }, `Nothing differs from ${before}.`)
    return
  }
  if (differences !== undefined) output.line(`Changes from ${before}:`)
  for (const one of differences ?? []) output.line(`  ${differenceText(one)}`)
  const shown = (differences ?? []).map(differenceJson)
  if (dryRun === true) {
    output.result({ changed: false, carriersVersion: after, differences: shown }, 'Nothing was stored.')
    return
  }
  if (latest === undefined && despiteKey !== true) await withKeyInUse(requireKeyInUse(ports))
  const storedBy = `${actor.by} by carrier apply`
  const version = await change({ action: 'applyCarriers', given: { after } }, () =>
    storeCarriers(ports, next, { after, storedBy, onPurpose: true }),
  )
  if (typeof version !== 'number')
    throw new Refused(
      'Another version was stored at the same time. Check it with gateway carrier versions, and try again.',
    )
  const users = await followed(context, version)
  output.result(
    { changed: true, carriersVersion: version, differences: shown, processes: users.map(userJson) },
    doneText(version, users),
  )
}

/**
 * Returns the differences to the present version. Returns undefined if that version cannot be read and `despiteKey`
 * permits to go on without it.
 */
async function differencesFrom(
  { ports, output }: Context,
  latest: CarrierVersion | undefined,
  next: CarrierConfiguration,
  despiteKey: boolean,
): Promise<readonly CarrierDifference[] | undefined> {
  const { differencesOf, meaningOf } = await import('@gateway/carriers')
  const none = { carriers: [], routes: [] }
  try {
    const before = latest === undefined ? none : await openVersion(latest, ports)
    return differencesOf(meaningOf(before), meaningOf(next))
  } catch (problem) {
    if (problem instanceof UnusableKeyError) throw problem
    const reason = (problem as Error).message
    if (!despiteKey) {
      throw new Refused(
        `${reason}\nIf the key is lost, --despite-key stores the file nevertheless: see docs/carriers.md.`,
      )
    }
    output.note(reason)
    return undefined
  }
}

/** Waits until all running processes work with the version, at most `followSeconds`. Returns the processes. */
async function followed({ ports, output, interruption }: Context, version: number): Promise<readonly CarrierUser[]> {
  const end = performance.now() + followSeconds * 1000
  for (;;) {
    const users = await ports.fleet.users()
    const late = users.filter((user) => user.version < version)
    if (late.length === 0 || performance.now() > end || interruption.aborted) return users
    output.progress(`${users.length - late.length} of ${users.length} processes use it`)
    await delay(100)
  }
}

function doneText(version: number, users: readonly CarrierUser[]): string {
  const late = users.filter((user) => user.version < version)
  const follow = users.length - late.length
  return [
    `Stored as version ${version}. ${follow} of ${users.length} dispatching processes use it.`,
    ...late.map(({ process: { pid, host } }) => `Process ${pid} on ${host} has not applied it yet. See its log.`),
  ].join('\n')
}

const differenceJson = ({ subject: kind, setting, before, after }: CarrierDifference): Json => ({
  ...{ subject: kind, setting: setting ?? null, before: before ?? null, after: after ?? null },
})
