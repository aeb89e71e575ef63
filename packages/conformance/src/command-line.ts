import { readFile, writeFile } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { readConfiguration, type Configuration } from './configuration.ts'
import { expenseOf, runConformance } from './conformance.ts'
import { ask } from './http.ts'
import { prepare } from './prepare.ts'
import { countsOf, jsonReport, junitReport, textReport } from './report.ts'
import { absolute, filled, runCommand, surroundings } from './run-command.ts'
import type { Addresses, Reply } from './tested-gateway.ts'

export interface Streams {
  readonly out: Writable
  readonly err: Writable
}

/**
 * Exit codes. 0: no case failed. 1: a case failed. 2: wrong arguments or configuration. 3: no case failed, but some
 * could not be judged on a busy machine.
 */
export type ExitCode = 0 | 1 | 2 | 3

interface RunOptions {
  readonly baseUrl?: URL
  readonly restUrl?: URL
  readonly aspUrl?: URL
  readonly xmlUrl?: URL
  readonly config?: string
  readonly section: readonly string[]
  readonly case: readonly string[]
  readonly json?: true
  readonly junit?: string
}

interface PrepareOptions {
  readonly config: string
  readonly replyTo: string
  readonly smpp?: { readonly host: string; readonly port: number }
}

class WrongCall extends Error {}

/** Reads `host:port`. */
function readAddress(text: string): { readonly host: string; readonly port: number } {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(text) ?? []
  if (host === undefined || Number(port) > 65_535) throw new InvalidArgumentError('Expected host:port.')
  return { host, port: Number(port) }
}

/** Runs the command that the arguments name. Reports go to `out`, everything else to `err`. */
export async function runCommandLine(args: readonly string[], { out, err }: Streams): Promise<ExitCode> {
  let code: ExitCode = 0
  const program = new Command('gateway-conformance')
    .description('asks a running gateway for every promise of its contract')
    .option('--base-url <url>', 'where all three interfaces are', readUrl)
    .option('--rest-url <url>', 'where REST is, if it is elsewhere', readUrl)
    .option('--asp-url <url>', 'where the query-string interface is, if it is elsewhere', readUrl)
    .option('--xml-url <url>', 'where XML is, if it is elsewhere', readUrl)
    // Otherwise the `--config` of `prepare` would be parsed as an option of this command.
    .enablePositionalOptions()
    .option('--config <file>', 'the accounts, keys and numbers that may be used (docs/conformance.md)')
    .option(
      '--section <number>',
      'only what tests this number of the contract, such as 2.9 or "spec 4.2"; may be repeated',
      listed,
      [],
    )
    .option('--case <words>', 'only cases with these words in their title; may be repeated', listed, [])
    .option('--json', 'report as JSON')
    .option('--junit <file>', 'write a report as JUnit XML as well')
    .action(async (options: RunOptions) => {
      code = await run(options, { out, err })
    })
  program
    .command('prepare')
    .description('opens accounts for the suite in a gateway with the simulated carrier, and writes the configuration')
    .requiredOption('--config <file>', 'the file to write')
    .option('--reply-to <address>', 'the address that replies are sent to: one of SENDERS', '12025550100')
    .option('--smpp <host:port>', 'where the SMPP server is, if there is one', readAddress)
    .argument('<gateway...>', 'the command line of the gateway, after --: node scripts/gateway.mjs')
    .action(async (gateway: string[], { config, replyTo, smpp }: PrepareOptions) => {
      const called = absolute(gateway)
      const operate = async (command: readonly string[]): Promise<unknown> =>
        JSON.parse(await runCommand([...called, ...command, '--json']))
      const made = await prepare({ operate, gateway: called, replyTo, smpp })
      const replies = made.replies && { ...made.replies, ...surroundings() }
      // Only the owner may read the file, because it contains keys and the environment variables that name the
      // database.
      await writeFile(config, `${JSON.stringify({ ...made, replies }, null, 2)}\n`, { mode: 0o600 })
      out.write(`The configuration is in ${config}.\n`)
    })
  for (const each of [program, ...program.commands])
    each.exitOverride().configureOutput({ writeOut: (text) => out.write(text), writeErr: (text) => err.write(text) })
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (problem) {
    if (problem instanceof CommanderError) return problem.exitCode === 0 ? 0 : 2
    err.write(`${problem instanceof Error ? problem.message : String(problem)}\n`)
    return 2
  }
}

const listed = (value: string, before: readonly string[]): readonly string[] => [...before, value]

function readUrl(text: string): URL {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError('It is not an http or https URL.')
  return new URL(text)
}

async function run(options: RunOptions, { out, err }: Streams): Promise<ExitCode> {
  const addresses = addressesOf(options)
  const configuration = await configurationIn(options.config)
  const { section, case: titles, json, junit } = options
  const choice = section.length + titles.length === 0 ? undefined : { sections: section, titles }
  const run = { addresses, configuration, ...(choice && { choice }) }
  const { cases, parts, credits } = expenseOf(run)
  if (cases === 0) throw new WrongCall('No case matches the selection.')
  await reach(addresses)
  err.write(
    `${cases} cases. At most ${parts} message parts leave, for ${credits} credits. ` +
      'Unread replies of the accounts are read. Scheduled messages are deleted again.\n',
  )
  const summary = await runConformance({
    ...run,
    bringReply: bringReply(configuration),
    probesReplies: true,
    onResult: ({ outcome, case: { title } }) => {
      if (outcome.is === 'failed') err.write(`failed: ${title}\n`)
      if (outcome.is === 'not judged') err.write(`not judged: ${title}: ${outcome.why}\n`)
    },
  })
  out.write(json === true ? jsonReport(summary) : textReport(summary))
  if (junit !== undefined) await writeFile(junit, junitReport(summary))
  const { failed, 'not judged': unjudged } = countsOf(summary.results)
  return failed > 0 ? 1 : unjudged > 0 ? 3 : 0
}

function addressesOf({ baseUrl, restUrl, aspUrl, xmlUrl }: RunOptions): Addresses {
  const [rest, asp, xml] = [restUrl ?? baseUrl, aspUrl ?? baseUrl, xmlUrl ?? baseUrl]
  if (rest === undefined || asp === undefined || xml === undefined)
    throw new WrongCall('Name --base-url, or each of --rest-url, --asp-url and --xml-url.')
  return { rest, asp, xml }
}

/** Throws if one of the interfaces does not answer HTTP. */
async function reach(addresses: Addresses): Promise<void> {
  for (const address of new Set(Object.values(addresses)))
    await ask(address, { target: '/' }).catch((problem: unknown) => {
      throw new WrongCall(`${address.href} cannot be reached: ${(problem as Error).message}`)
    })
}

async function configurationIn(file: string | undefined): Promise<Configuration> {
  if (file === undefined) throw new WrongCall('Name the configuration with --config.')
  const text = await readFile(file, 'utf8').catch((problem: unknown) => {
    throw new WrongCall(`${file} cannot be read: ${(problem as Error).message}`)
  })
  const configuration = readConfiguration(text)
  if ('wrong' in configuration) throw new WrongCall([`${file} is wrong:`, ...configuration.wrong].join('\n  '))
  return configuration
}

function bringReply({ replies }: Configuration): ((reply: Reply) => Promise<void>) | undefined {
  if (replies === undefined) return undefined
  return async (reply) => {
    await runCommand(filled(replies.command, { ...reply }), replies)
  }
}
