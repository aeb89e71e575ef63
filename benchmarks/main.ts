import { mkdir, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chosen, listOfAll } from './catalogue.ts'
import { comparison } from './figures/compare.ts'
import { runReport } from './figures/report.ts'
import { readResult } from './figures/result.ts'
import { drawPlots } from './plot/draw.ts'
import { runBenchmarks } from './run-benchmarks.ts'

const results = fileURLToPath(new URL('results/', import.meta.url))
const usage = `pnpm benchmark [name or number of a goal …] [--quick] [--standby] [--out file]
pnpm benchmark compare <result> <result>
pnpm benchmark plot <result …> [--out folder]
pnpm benchmark list`

const say = (line: string): void => console.log(line)

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  if (process.env['DEBUG'] !== undefined) console.error(error)
  // Exits at once, because no result of the pending work is needed.
  process.exit(1)
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      standby: { type: 'boolean', default: false },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const [first, ...others] = positionals
  if (values.help || first === 'list') say(`${usage}\n\n${listOfAll()}`)
  else if (first === 'compare') await compare(others)
  else if (first === 'plot') await plot(others, values.out ?? results)
  else return run(positionals, values)
  return 0
}

async function compare([before, after]: readonly string[]): Promise<void> {
  if (before === undefined || after === undefined) throw new Error(usage)
  say(comparison(await readResult(before), await readResult(after)))
}

async function plot(paths: readonly string[], folder: string): Promise<void> {
  if (paths.length === 0) throw new Error(usage)
  const files = await drawPlots(await Promise.all(paths.map(readResult)), folder)
  say(files.length === 0 ? 'there is nothing to draw' : `drawn: ${files.join(', ')}`)
}

/** Returns the exit code: 0 if all benchmarks ran and their checks hold, whether or not the goals are met. */
async function run(
  names: readonly string[],
  { quick, standby, out }: { quick: boolean; standby: boolean; out?: string | undefined },
): Promise<number> {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
  const result = await runBenchmarks({
    benchmarks: chosen(names, quick),
    quick,
    databaseUrl: process.env['DATABASE_URL'],
    hasStandby: standby,
    say,
    stopping: stopping.signal,
  })
  const path = out ?? `${results}${result.startedAt.slice(0, 16).replaceAll(':', '')}${quick ? '-quick' : ''}.json`
  await mkdir(results, { recursive: true })
  await writeFile(path, nameless(`${JSON.stringify(result, undefined, 1)}\n`))
  say(`${runReport(result)}\n\nresult file: ${path.replace(results, 'benchmarks/results/')}`)
  return result.benchmarks.some(({ checks }) => checks.some(({ problem }) => problem !== undefined)) ? 1 : 0
}

/** Error texts of processes may contain names of the machine or its folders. */
function nameless(text: string): string {
  const root = fileURLToPath(new URL('..', import.meta.url))
  return text.replaceAll(root, '').replaceAll(tmpdir(), '').replaceAll(hostname(), 'host')
}
