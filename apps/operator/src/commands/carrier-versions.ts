import type { CarrierUser, CarrierVersion } from '@gateway/core'
import { readVersion } from '../arguments.ts'
import { openVersion, userJson } from '../carrier-versions.ts'
import { command } from '../command.ts'
import { Refused, type Context, type Run } from '../context.ts'
import type { Json, Row } from '../output.ts'
import { timeJson, timeText } from '../show.ts'

const head = ['VERSION', 'STORED (GMT+2)', 'DIGEST', 'CARRIERS', 'PROCESSES', 'STORED BY']
const listMax = 1000

export const carrierVersions = (run: Run) =>
  command(
    'versions',
    'list the stored versions of carriers and routes, the one in force first, and the processes that work with each',
    'gateway carrier versions',
  )
    .argument('[version]', 'show what this version says, without passwords', readVersion)
    .action((version: number | undefined) =>
      run((context) => (version === undefined ? list(context) : show(context, version))),
    )

async function list({ ports, output }: Context): Promise<void> {
  const { carrierVersions: versions } = ports
  const [all, users] = [await versions.list(listMax), await versions.users()]
  await output.rows(
    head,
    all.map((one) => row(one, users)),
  )
  if (all.length === 0) output.note('Nothing is stored: without CARRIERS a process works with the simulated carrier.')
  const without = users.filter(({ version }) => version === 0)
  for (const { process } of without)
    output.note(`Process ${process.pid} on ${process.host} works with simulated carriers, which are not stored.`)
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
  const users = await ports.carrierVersions.users()
  output.one({ ...versionJson(found, users), document }, JSON.stringify(document, undefined, 2))
}
