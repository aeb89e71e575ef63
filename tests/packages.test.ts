import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '@gateway/core/testing'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { startRegistry, type Registry } from './support/local-registry.ts'
import { cleanEnvironment, copyCluster, dataFolder, root } from './support/process.ts'

const run = promisify(execFile)
let registry: Registry
/** Folder with the global installations of npm. */
let globally: string
let environment: NodeJS.ProcessEnv
let project: string
let program: string
let printed: string
/** Second example program, which uses the other interfaces. */
let further: string
let printedByFurther: string
/** First example program of the page about PostgreSQL, with the ports adapter created as on that page. */
let onPostgres: string
let printedOnPostgres: string

const has = (name: string): boolean => existsSync(join(project, 'node_modules', name))
/** Replaces times, which differ between runs. */
const comparable = (text: string): string => text.replace(/"timeStamp":"\d{17}"/g, '"timeStamp":"…"')

/** Returns the first program of a README and its documented output. */
async function exampleOf(name: string, folder = join(project, 'node_modules', name)) {
  const readme = await readFile(join(folder, 'README.md'), 'utf8')
  const [program = '', printed = ''] = Array.from(readme.matchAll(/```\w*\n([\s\S]*?)```/g), ([, code = '']) => code)
  return { program, printed }
}

/** Creates a plain project outside the workspace and installs the packages that the packing command names. */
beforeAll(async () => {
  const page = await readFile(join(root, 'docs', 'embedding.md'), 'utf8')
  const blocks = Array.from(page.matchAll(/```\w*\n([\s\S]*?)```/g), ([, code = '']) => code)
  const at = blocks.findIndex((block) => block.includes("from '@gateway/rest'"))
  ;[program = '', printed = ''] = blocks.slice(at)
  const next = blocks.findIndex((block) => block.includes("from '@gateway/asp'"))
  ;[further = '', printedByFurther = ''] = blocks.slice(next)
  const [first = '', printedFirst = ''] = blocks
  const made = blocks.find((block) => block.includes("from '@gateway/adapters-postgres'")) ?? ''
  onPostgres = `${made}${first.replace(/^.*memoryPorts.*$/gm, '')}\nawait postgres.close()\n`
  printedOnPostgres = printedFirst

  project = await realpath(await mkdtemp(join(tmpdir(), 'gateway-packages-')))
  await writeFile(join(project, 'package.json'), '{ "name": "plain", "private": true, "type": "module" }')
  // If the test runs as root, PostgreSQL runs as another user. This user can then read the installed programs, so they
  // need not be copied.
  await chmod(project, 0o755)
  const pack = join(root, 'scripts', 'pack.mjs')
  const all = join(project, 'all')
  await run(process.execPath, [pack, all])
  registry = await startRegistry(all)
  const names = ['rest', 'asp', 'xml', 'adapters-node', 'adapters-postgres', 'adapters-webhooks']
  expect(page).toContain(`npx pnpm pack-all /tmp/packed ${names.join(' ')}\n`)
  const { stdout } = await run(process.execPath, [pack, join(project, 'packed'), ...names])
  const [npm = '', install = '', ...files] = stdout.trim().split(' ')
  expect([npm, install, files.length]).toEqual(['npm', 'install', 11])
  globally = join(project, 'globally')
  environment = cleanEnvironment({
    npm_config_registry: registry.url,
    npm_config_cache: join(project, 'cache'),
    npm_config_prefix: globally,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    PATH: `${join(globally, 'bin')}:${process.env['PATH'] ?? ''}`,
  })
  await run(npm, [install, ...files, 'express', '@types/node'], { cwd: project, env: environment })
}, 600_000)

afterAll(async () => {
  await registry.close()
  await rm(project, { recursive: true, force: true })
})

test('the requested packages are installed, without an embedded PostgreSQL and packages that only a main needs', () => {
  expect(['@gateway/rest', '@gateway/adapters-postgres', 'pg', 'ajv', 'express'].filter((name) => !has(name))).toEqual(
    [],
  )
  const others = [
    '@gateway/embedded-postgres',
    '@embedded-postgres',
    '@gateway/composition',
    '@gateway/dispatcher',
    'supertest',
  ]
  expect(others.filter(has)).toEqual([])
})

test('the second program of docs/embedding.md has under 50 lines and prints what the page says', async () => {
  expect(program.trimEnd().split('\n').length).toBeLessThan(50)
  await writeFile(join(project, 'program.js'), program)
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: project })
  expect(comparable(stdout)).toBe(comparable(printed))
})

test('its program of the other interfaces has under 50 lines and prints what the page says', async () => {
  expect(further.trimEnd().split('\n').length).toBeLessThan(50)
  await writeFile(join(project, 'further.js'), further)
  const { stdout } = await run(process.execPath, ['further.js'], { cwd: project })
  expect(stdout).toBe(printedByFurther)
})

test('its first program prints the same on a new PostgreSQL, with the ports that the page makes', async () => {
  expect(onPostgres).not.toContain('memoryPorts')
  await writeFile(join(project, 'on-postgres.js'), onPostgres)
  const data = await dataFolder()
  const dataDir = join(data.path, 'db')
  await copyCluster(dataDir)
  const database = await startEmbeddedPostgres({ dataDir })
  const env = { ...process.env, DATABASE_URL: database.connectionString }
  const example = await exampleOf('@gateway/adapters-postgres')
  await writeFile(join(project, 'example.js'), example.program)
  const programs = ['example.js', 'on-postgres.js'].map((name) => `await import('./${name}')`)
  await writeFile(join(project, 'both.js'), programs.join('\n'))
  try {
    const { stdout } = await run(process.execPath, ['both.js'], { cwd: project, env })
    expect(stdout).toBe(`${example.printed}${printedOnPostgres}`)
  } finally {
    await database.stop()
    await removeCluster(dataDir)
    await data.remove()
  }
}, 120_000)

describe('installed globally, from a registry', () => {
  const tools = ['@gateway/conformance', '@gateway/smsc-simulator']
  const folderOf = (name: string): string => {
    const above = name === 'gateway-sms' || tools.includes(name) ? '' : 'gateway-sms/node_modules'
    return join(globally, 'lib', 'node_modules', above, name)
  }

  beforeAll(async () => {
    await mkdir(globally)
    await run('npm', ['install', '--global', 'gateway-sms', ...tools], { cwd: globally, env: environment })
  }, 600_000)

  // Measures seconds of CPU time, because they do not depend on other load. On an idle machine they equal the waiting
  // time.
  test('npx gateway-sms runs the all-in-one within 20 seconds, and `gateway` on the PATH works with its database', async () => {
    const cwd = join(project, 'data')
    await mkdir(cwd)
    const child = spawn('npx', ['gateway-sms'], {
      cwd,
      env: { ...environment, PORT: '0' },
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const begun = performance.now()
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    const ended = new Promise((resolve) => child.once('exit', resolve))
    try {
      const base = await until(() => {
        if (child.exitCode !== null) throw new Error(`it has ended:\n${output}`)
        return /The gateway runs at (http:[\w.:/]+\d)/.exec(output)?.[1]
      }, 120_000)
      const cpuSeconds = await cpuSecondsOf(child.pid ?? 0)
      const seconds = (performance.now() - begun) / 1000
      process.stderr.write(`npx gateway-sms: ready after ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} of CPU\n`)
      expect(cpuSeconds).toBeLessThan(20)
      const key = /API key +(\S+)/.exec(output)?.[1] ?? ''
      const options = { cwd, env: environment }
      const send = ['send', '--account', '1', '--to', '27825550101', '--text', 'Hello', '--wait']
      expect((await run('gateway', send, options)).stdout).toContain('DELIVERED')
      const balance = await fetch(`${base}/api/credits.asp?apikey=${key}`)
      expect(await balance.text()).toBe('Credits=999')
    } finally {
      if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGTERM')
      await ended
      await removeCluster(join(cwd, 'data'))
    }
  }, 120_000)

  test('gateway-sms runs the process that is named', async () => {
    const { stdout } = await run('gateway-sms', ['dispatcher', '--help'], { cwd: globally, env: environment })
    expect(stdout).toContain('CARRIERS')
    const wrong = run('gateway-sms', ['reset'], { cwd: globally, env: environment })
    await expect(wrong).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('all-in-one') as string })
  })

  test('every package has a licence, types, and a README whose example prints what it says', async () => {
    const names = (await readdir(join(project, 'all'))).map((file) =>
      file.replace(/^gateway-/, '@gateway/').replace(/-[\d.]+tgz$/, ''),
    )
    const packages = names.map((name) => (name === '@gateway/sms' ? 'gateway-sms' : name))
    let [programs, expected] = ['', '']
    for (const name of packages) {
      const folder = folderOf(name)
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
      expect(manifest).toMatchObject({
        name,
        license: 'Apache-2.0',
        description: expect.any(String) as string,
        repository: { type: 'git', directory: expect.stringMatching(/^(?:apps|packages)\//) as string },
        publishConfig: { provenance: true },
      })
      expect(await readFile(join(folder, 'LICENSE'), 'utf8')).toContain('Apache License')
      if (name === 'gateway-sms') continue
      expect(existsSync(join(folder, 'dist', 'index.d.ts'))).toBe(true)
      const example = await exampleOf(name, folder)
      if (name === '@gateway/adapters-postgres') continue
      await writeFile(join(folder, 'example.js'), example.program)
      programs += `console.log('# ${name}')\nawait import(${JSON.stringify(join(folder, 'example.js'))})\n`
      expected += `# ${name}\n${example.printed}`
    }
    await writeFile(join(globally, 'examples.mjs'), programs)
    const { stdout } = await run(process.execPath, ['examples.mjs'], { cwd: globally, env: environment })
    expect(stdout).toBe(expected)
  }, 120_000)
})

/** Returns the CPU time of the processes of a group, including ended ones, or 0 without /proc. */
async function cpuSecondsOf(group: number): Promise<number> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  const ticks = stats
    .map((stat) =>
      stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number),
    )
    .filter((fields) => fields[2] === group)
    .map((fields) => fields.slice(11, 15).reduce((sum, each) => sum + each, 0))
  return ticks.reduce((sum, each) => sum + each, 0) / 100
}

test('the examples compile as TypeScript with moduleResolution nodenext', async () => {
  const wrong = `import { restRouter } from '@gateway/rest'
// @ts-expect-error
restRouter('no gateway', 1)
`
  const files: Record<string, string> = { 'program.ts': program, 'further.ts': further, 'wrong.ts': wrong }
  files['on-postgres.ts'] = onPostgres
  for (const name of await readdir(join(project, 'node_modules', '@gateway')))
    files[`${name}.ts`] = (await exampleOf(`@gateway/${name}`)).program
  for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text)
  const options = '--strict --noEmit --module nodenext --moduleResolution nodenext --target es2023 --types node'.split(
    ' ',
  )
  const tsc = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc')
  const checked = run(process.execPath, [tsc, ...options, ...Object.keys(files)], { cwd: project })
  const complaints = await checked.then(
    ({ stdout }) => stdout,
    (error: unknown) => (error as { stdout: string }).stdout,
  )
  expect(complaints).toBe('')
}, 300_000)
