import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { command, Refused, type RunAlone } from '../command.ts'

export const init = (runAlone: RunAlone) =>
  command(
    'init',
    'make the file of settings for deploy/compose.yaml, with a new secret for everything that needs one',
    'gateway init --domain sms.example.com',
  )
    .option('--file <path>', 'the file to make', '.env')
    .option('--domain <name>', 'the name under which clients reach the gateway', 'localhost')
    .action(({ file, domain }: { readonly file: string; readonly domain: string }) =>
      runAlone(async ({ output }) => {
        if (!/^[a-z0-9][a-z0-9.-]*$/i.test(domain)) throw new Refused(`${domain} is not a host name.`, 2)
        const settings = { DOMAIN: domain, ...secrets() }
        const text = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
        // Never overwrite a file, because secrets stored with its keys would become unreadable.
        await writeFile(file, `${head}${text.join('')}`, { flag: 'wx', mode: 0o600 }).catch(refuse(file))
        const names = Object.keys(settings)
        output.result({ file, settings: names }, `Made ${file} with ${names.join(', ')}. Keep a copy in a safe place.`)
        if (await isOpenToGit(file))
          output.note(`${file} is in a git checkout that does not ignore it: add it to .gitignore before you commit.`)
        const dockerIgnore = await dockerIgnoreOpenTo(file)
        if (dockerIgnore !== undefined)
          output.note(`${file} is not excluded from images of Docker: add it to ${dockerIgnore} before you build one.`)
      }),
    )

const head = `# Settings of deploy/compose.yaml. The variables: docs/configuration.md.
# Real carriers instead of the simulated one:
# CARRIERS=smpp://systemid:password@smsc.example.com
# SENDERS=12025550100
`

/** Generates the secrets. A URL or a settings file can contain the passwords without escaping. */
const secrets = () => ({
  POSTGRES_PASSWORD: randomBytes(24).toString('base64url'),
  SECRETS_KEY: randomBytes(32).toString('base64'),
  GRAFANA_PASSWORD: randomBytes(18).toString('base64url'),
})

/** True if the file lies in a checkout of git that would commit it. Returns false if git is not installed. */
const isOpenToGit = (file: string): Promise<boolean> =>
  new Promise((resolve) => {
    // Exit code 1: not ignored; 128: not in a checkout.
    const args = ['-C', dirname(file), 'check-ignore', '--quiet', '--', basename(file)]
    execFile('git', args, (problem) => resolve(problem?.code === 1))
  })

/**
 * Returns the nearest `.dockerignore` of a folder above the file if it does not exclude the file, else undefined. Reads
 * the patterns that exclude a name everywhere, such as `**\/*.env`, and whole paths.
 */
async function dockerIgnoreOpenTo(file: string): Promise<string | undefined> {
  const path = resolve(file)
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const ignore = join(folder, '.dockerignore')
    const patterns = await readFile(ignore, 'utf8').catch(() => undefined)
    if (patterns !== undefined) {
      const isExcluded = patterns.split(/\r?\n/).some((pattern) => excludes(pattern.trim(), relative(folder, path)))
      return isExcluded ? undefined : ignore
    }
    if (folder === dirname(folder)) return undefined
  }
}

function excludes(pattern: string, path: string): boolean {
  const everywhere = pattern.startsWith('**/')
  const [before = '', after, ...more] = (everywhere ? pattern.slice(3) : pattern.replace(/^\//, '')).split('*')
  const name = everywhere ? basename(path) : path
  if (more.length > 0) return false
  return after === undefined ? name === before : name.startsWith(before) && name.endsWith(after)
}

const refuse = (file: string) => (problem: NodeJS.ErrnoException) => {
  const why = problem.code === 'EEXIST' ? 'it already exists' : problem.message
  throw new Refused(`${file} was not made: ${why}.`)
}
