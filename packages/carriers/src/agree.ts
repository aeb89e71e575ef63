import type { Ports } from '@gateway/core'
import type { CarrierUser, CarrierVersion, ReportingProcess } from '@gateway/core/fleet'
import { OtherKeyError, requireKeyInUse } from '@gateway/core/webhooks'
import type { CarrierConfiguration } from './configuration.ts'
import { differencesOf, differenceText, meaningOf, simulatedFrom, simulatedText, type Meaning } from './meaning.ts'
import { readConfiguration } from './read-configuration.ts'
import { openCarriers, storeCarriers, withStoredSecrets, type CarrierPorts } from './stored-carriers.ts'

/** `webhooks` is needed because the secrets of webhooks show which key is in use. */
export type AgreementPorts = CarrierPorts & Pick<Ports, 'webhooks'>

interface Starting {
  /** Configuration that `CARRIERS` gives; undefined if it gives none. */
  readonly configured: CarrierConfiguration | undefined
  readonly process: ReportingProcess
  readonly leaseSeconds: number
}

/** Carriers that a process works with, and the record by which other processes see that it does. */
export interface AgreedCarriers {
  readonly configuration: CarrierConfiguration
  readonly user: CarrierUser
}

/** Maximum number of attempts. Other processes may store versions during the attempts, but not forever. */
const attemptsMax = 20

/**
 * Returns the carriers that a starting process must work with, which are the stored carriers. If no carriers are
 * stored, the process stores its own carriers, or works with simulated carriers if it has no others. Throws an Error
 * for the operator if the given configuration differs from the stored or running carriers, or if it would be sealed
 * with another key than the secrets of webhooks. In that case nothing is changed.
 */
export async function agreeOnCarriers(ports: AgreementPorts, starting: Starting): Promise<AgreedCarriers> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const stored = await ports.carrierVersions.latest()
    const agreed = await (stored === undefined ? begin(ports, starting) : follow(ports, starting, stored))
    if (agreed !== undefined) return agreed
  }
  throw new Error('the stored carriers changed during each attempt to use them')
}

/** Starts a process when no carriers are stored. Returns undefined if carriers are stored now. */
async function begin(ports: AgreementPorts, starting: Starting): Promise<AgreedCarriers | undefined> {
  const { configured, process, leaseSeconds } = starting
  const configuration = await withStoredSecrets(configured ?? (await readConfiguration('simulator:', {})), ports)
  if (!isSimulated(configuration)) {
    await requireOwnKey(ports)
    const storedBy = `${nameOf(process)} at its start`
    const stored = await storeCarriers(ports, configuration, { after: 0, storedBy, onPurpose: false })
    if (typeof stored === 'object') throw new Error(conflictText(stored.user, configuration))
    return undefined
  }
  const user = { process, version: 0, simulated: simulatedText(configuration) }
  const joined = await ports.carrierVersions.join(user, leaseSeconds)
  if (typeof joined === 'object') throw new Error(conflictText(joined.user, configuration))
  return joined === 'joined' ? { configuration, user } : undefined
}

async function requireOwnKey(ports: AgreementPorts): Promise<void> {
  try {
    await requireKeyInUse(ports)
  } catch (problem) {
    if (!(problem instanceof OtherKeyError)) throw problem
    throw new Error(
      `the carriers in CARRIERS were not stored: ${problem.message}\n` +
        'If that key is lost, store them with the new key: gateway carrier apply --despite-key',
      { cause: problem },
    )
  }
}

/** Starts a process with the stored carriers. Returns undefined if another version is stored now. */
async function follow(
  ports: CarrierPorts,
  { configured, process, leaseSeconds }: Starting,
  stored: CarrierVersion,
): Promise<AgreedCarriers | undefined> {
  const configuration = await openCarriers(stored, ports)
  if (configured !== undefined) refuseOther(stored, configuration, await withStoredSecrets(configured, ports))
  const user = { process, version: stored.version, simulated: undefined }
  return (await ports.carrierVersions.join(user, leaseSeconds)) === 'joined' ? { configuration, user } : undefined
}

/** Simulated carriers that are not configured in a file are only for trials, so they are not stored. */
const isSimulated = ({ file, carriers }: CarrierConfiguration): boolean =>
  file === undefined && carriers.every(({ kind }) => kind === 'simulator')

function refuseOther(
  stored: CarrierVersion,
  storedConfiguration: CarrierConfiguration,
  configured: CarrierConfiguration,
): void {
  const differences = differenceLines(meaningOf(storedConfiguration), meaningOf(configured))
  if (differences.length === 0) return
  const file = configured.file ?? ''
  throw new Error(
    [
      `the carriers in CARRIERS differ from version ${stored.version} of the stored carriers, which all processes use`,
      `(stored ${new Date(stored.storedAt).toISOString()}, ${stored.storedBy}). Differences, from version ${stored.version} to CARRIERS:`,
    ].join(' ') +
      `\n${differences.join('\n')}\n` +
      `If CARRIERS is right, apply it to all processes: gateway carrier apply ${file}`.trimEnd() +
      `\nIf version ${stored.version} is right, unset CARRIERS. To see that version: gateway carrier versions ${stored.version}`,
  )
}

const conflictText = ({ process, simulated = '' }: CarrierUser, own: CarrierConfiguration): string =>
  [
    `${nameOf(process)} runs with other carriers. Differences, from the carriers of that process to those of this one:`,
    ...differenceLines(simulatedFrom(simulated), meaningOf(own)),
    'Stop that process first (a killed process counts as stopped after LEASE_SECONDS), or give it these carriers: gateway carrier apply',
  ].join('\n')

const differenceLines = (before: Meaning, after: Meaning): readonly string[] =>
  differencesOf(before, after).map((one) => `  ${differenceText(one)}`)

/** Returns the name by which messages to operators refer to a process. */
export const nameOf = ({ host, pid }: ReportingProcess): string => `process ${pid} on ${host}`
