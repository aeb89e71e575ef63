import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
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
        if (!/^[a-z0-9][a-z0-9.-]*$/i.test(domain)) throw new Refused(`${domain} is not a name of a host.`, 2)
        const settings = { DOMAIN: domain, ...secrets() }
        const text = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
        // Never overwrite a file, because secrets stored with its keys would become unreadable.
        await writeFile(file, `${head}${text.join('')}`, { flag: 'wx', mode: 0o600 }).catch(refuse(file))
        const names = Object.keys(settings)
        output.result({ file, settings: names }, `Made ${file} with ${names.join(', ')}. Keep a copy in a safe place.`)
        if (await isOpenToGit(file))
          output.note(`${file} lies in a git checkout that does not ignore it: add it to .gitignore before you commit.`)
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

const refuse = (file: string) => (problem: NodeJS.ErrnoException) => {
  const why = problem.code === 'EEXIST' ? 'it is already there' : problem.message
  throw new Refused(`${file} was not made: ${why}.`)
}
