import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { cpuOf } from './cpu.ts'

const programOf = (file: string): string =>
  fileURLToPath(new URL(`../../packages/smsc-simulator/dist/${file}`, import.meta.url))

/** Process of a simulator without a journal. */
export interface BenchmarkSmsc {
  readonly port: number
  /** Returns the CPU time since its start, in µs. */
  cpu(): Promise<number>
  stop(): Promise<void>
}

/**
 * Starts `gateway-smsc` on a free port of 127.0.0.1. Any system_id and password may bind. `settings` have the form
 * `receiptDelay=0`, `options` that of its command line.
 */
export const startSmsc = (settings: readonly string[], options: readonly string[] = []): Promise<BenchmarkSmsc> =>
  startSimulator('main.js', [...options, ...setsOf(settings)])

/** Starts `gateway-http-provider` on a free port of 127.0.0.1, as a provider that accepts any credentials. */
export const startHttpProvider = (provider: string, settings: readonly string[]): Promise<BenchmarkSmsc> =>
  startSimulator('http-main.js', ['--provider', provider, ...setsOf(settings)])

const setsOf = (settings: readonly string[]): readonly string[] => settings.flatMap((each) => ['--set', each])

async function startSimulator(file: string, options: readonly string[]): Promise<BenchmarkSmsc> {
  const args = [programOf(file), '--port', '0', '--control-port', '0', ...options]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill('SIGKILL'))
  const ended = once(child, 'close')
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  // A process that could not be stopped must not prevent the run from ending.
  child.unref()
  if (child.stdout instanceof Socket) child.stdout.unref()
  const port = Number(/^\w+ on (?:http:\/\/)?127\.0\.0\.1:(\d+)/.exec(line)?.[1])
  return {
    port,
    cpu: () => cpuOf(child.pid ?? 0),
    stop: async () => {
      child.ref()
      child.kill()
      await ended
    },
  }
}
