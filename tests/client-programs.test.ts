import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openAccount, type NewAccount } from './support/accounts.ts'
import { startAllInOne, type RunningGateway } from './support/gateways.ts'
import { killLeftovers, root } from './support/process.ts'

// Runs the programs of docs/clients as their page says. Programs in languages that are not installed are skipped.
const folder = join(root, 'docs/clients')
const programs: readonly (readonly [file: string, command: string, ...before: string[]])[] = [
  ['send.mjs', process.execPath],
  ['send.sh', 'sh'],
  ['send.py', 'python3'],
  ['send.php', 'php'],
  ['Send.java', 'java'],
  ['send.go', 'go', 'run'],
  ['Send.cs', 'mcs'],
]
/** Tested by tests/kannel.test.ts, and as a server by tests/send-from.test.ts. */
const elsewhere = ['bridge.mjs', 'kannel.conf']

const probes: Readonly<Record<string, readonly string[]>> = { sh: ['-c', 'curl --version'], go: ['version'] }
const isInstalled = (command: string): boolean =>
  spawnSync(command, probes[command] ?? ['--version'], { stdio: 'ignore' }).status === 0

let gateway: RunningGateway
let account: NewAccount
let cache: string
beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'gw-clients-'))
  gateway = await startAllInOne()
  account = await openAccount(gateway.environment, 'clients', 100)
}, 180_000)
afterAll(async () => {
  await gateway.stop()
  killLeftovers()
  await rm(cache, { recursive: true, force: true })
}, 120_000)

async function run(command: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, GATEWAY: gateway.restUrl, KEY: account.key, GOCACHE: cache, HOME: cache }
  const { stdout } = await promisify(execFile)(command, args, { cwd: folder, env, timeout: 110_000 })
  return stdout
}

const assemblies = ['System.Net.Http', 'System.Runtime.Serialization', 'System.Xml', 'System.Xml.Linq']

/** Compiles and runs a program with Mono, because Debian has no .NET. The programs are valid for both. */
async function runInMono(file: string, number: string): Promise<string> {
  const compiled = join(cache, 'Send.exe')
  await run('mcs', '-langversion:7.2', `-out:${compiled}`, ...assemblies.map((name) => `-r:${name}`), file)
  // On a busy machine Mono itself sometimes crashes with an assertion of its thread pool.
  return run('mono', compiled, number).catch((error: unknown) => {
    if (!String(error).includes('External Debugger Dump')) throw error
    return run('mono', compiled, number)
  })
}

test('every program of the folder is run', async () => {
  const known = [...programs.map(([file]) => file), ...elsewhere]
  expect((await readdir(folder)).sort()).toEqual([...known].sort())
})

describe.each(programs)('%s', (file, command, ...before) => {
  const found = isInstalled(command)
  if (!found) process.stderr.write(`NOTICE: docs/clients/${file} is not run here: ${command} is not installed\n`)
  const runProgram = (number: string): Promise<string> =>
    command === 'mcs' ? runInMono(file, number) : run(command, ...before, file, number)
  const testIt = found ? test : test.skip

  testIt(
    'sends, asks until the end, and reads the replies',
    async () => {
      const answer = await runProgram('27825550188')
      expect(answer).toMatch(/^sent \d+\nstatus DELIVERED\nreplies \d+\n$/)
    },
    120_000,
  )

  testIt(
    'says that a message was refused, and why',
    async () => {
      await expect(runProgram('12')).rejects.toMatchObject({ stderr: expect.stringContaining('BADDEST') as string })
    },
    120_000,
  )
})
