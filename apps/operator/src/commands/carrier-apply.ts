import type { CarrierConfiguration, CarrierDifference, CarrierPorts } from '@gateway/carriers'
import { requireKeyInUse, type CarrierUser, type CarrierVersion } from '@gateway/core'
import { hostname, userInfo } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { readVersion } from '../arguments.ts'
import { openVersion, userJson } from '../carrier-versions.ts'
import { command } from '../command.ts'
import { Refused, type Context, type Run, type RunAlone, type Variables } from '../context.ts'
import type { Json } from '../output.ts'
import { withKeyInUse } from '../webhook-words.ts'

interface Options {
  readonly stored?: number
  readonly dryRun?: boolean
  readonly despiteKey?: boolean
}

/** So long it is waited for the processes that are to follow. */
const followSeconds = 15

export const carrierApply = (run: Run, runAlone: RunAlone) =>
  command(
    'apply',
    'make a file of carriers and routes that of all processes, which follow at once; it needs the environment of the server',
    'gateway carrier apply /etc/gateway/carriers.json',
  )
    .argument('[file]', 'the path of the file; without it, what CARRIERS says')
    .option('--stored <version>', 'go back to what a stored version says', readVersion)
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--despite-key', 'also if the present version cannot be read with SECRETS_KEY, since the key was lost')
    .action((file: string | undefined, options: Options) =>
      runAlone(async ({ variables }) => {
        const { stored } = options
        if (file !== undefined && stored !== undefined) throw new Refused('Name a file or --stored, not both.', 2)
        const given = stored === undefined ? await readGiven(file, variables) : undefined
        await run(async (context) => apply(context, given ?? (await openStored(context.ports, stored)), options))
      }),
    )

async function readGiven(file: string | undefined, variables: Variables): Promise<CarrierConfiguration> {
  const { readConfiguration, readFileConfiguration } = await import('@gateway/carriers')
  const carriers = variables['CARRIERS']?.trim() ?? ''
  if (file === undefined && carriers === '') throw new Refused('Name a file: CARRIERS is not set.', 2)
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

async function apply(context: Context, next: CarrierConfiguration, { dryRun, despiteKey }: Options): Promise<void> {
  const { output, ports } = context
  const { differenceText, storeCarriers } = await import('@gateway/carriers')
  const latest = await ports.carrierVersions.latest()
  const after = latest?.version ?? 0
  const differences = await differencesFrom(context, latest, next, despiteKey === true)
  const before = after === 0 ? 'nothing' : `version ${after}`
  if (differences?.length === 0) {
    output.result({ changed: false, carriersVersion: after, differences: [] }, `Nothing differs from ${before}.`)
    return
  }
  output.line(`From ${before}:`)
  for (const one of differences ?? []) output.line(`  ${differenceText(one)}`)
  const shown = (differences ?? []).map(differenceJson)
  if (dryRun === true) {
    output.result({ changed: false, carriersVersion: after, differences: shown }, 'Nothing was stored.')
    return
  }
  if (latest === undefined && despiteKey !== true) await withKeyInUse(requireKeyInUse(ports))
  const storedBy = `${userInfo().username} on ${hostname()} by carrier apply`
  const version = await storeCarriers(ports, next, { after, storedBy, onPurpose: true })
  if (typeof version !== 'number')
    throw new Refused('Another version was stored at the same time. Look at it, and try again.')
  const users = await followed(context, version)
  output.result(
    { changed: true, carriersVersion: version, differences: shown, processes: users.map(userJson) },
    doneText(version, users),
  )
}

/** Undefined: the present version cannot be read, which does not matter. */
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
    const reason = (problem as Error).message
    if (!despiteKey) {
      throw new Refused(
        `${reason}\nWith the key lost, --despite-key stores the file all the same: see docs/carriers.md.`,
      )
    }
    output.note(reason)
    return undefined
  }
}

/** Those that run, once all of them work with the version, or after a while. */
async function followed({ ports, output, interruption }: Context, version: number): Promise<readonly CarrierUser[]> {
  const end = performance.now() + followSeconds * 1000
  for (;;) {
    const users = await ports.carrierVersions.users()
    const late = users.filter((user) => user.version < version)
    if (late.length === 0 || performance.now() > end || interruption.aborted) return users
    output.progress(`${users.length - late.length} of ${users.length} processes follow`)
    await delay(100)
  }
}

function doneText(version: number, users: readonly CarrierUser[]): string {
  const late = users.filter((user) => user.version < version)
  const follow = users.length - late.length
  return [
    `Stored as version ${version}. ${follow} of ${users.length} processes that dispatch work with it.`,
    ...late.map(({ process: { pid, host } }) => `Process ${pid} on ${host} does not follow yet: see its log.`),
  ].join('\n')
}

const differenceJson = ({ what, setting, before, after }: CarrierDifference): Json => ({
  ...{ subject: what, setting: setting ?? null, before: before ?? null, after: after ?? null },
})
