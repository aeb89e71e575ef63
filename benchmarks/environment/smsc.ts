import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { cpuOf } from './cpu.ts'

const main = fileURLToPath(new URL('../../packages/smsc-simulator/dist/main.js', import.meta.url))

/** `gateway-smsc` in a process of its own, without a journal. */
export interface BenchmarkSmsc {
  readonly port: number
  /** µs since its start. */
  cpu(): Promise<number>
  stop(): Promise<void>
}

/**
 * On a free port of 127.0.0.1; any system_id and password may bind. `settings` as `receiptDelay=0`, `options` as on its
 * command line.
 */
export async function startSmsc(settings: readonly string[], options: readonly string[] = []): Promise<BenchmarkSmsc> {
  const args = ['--port', '0', '--control-port', '0', ...options, ...settings.flatMap((each) => ['--set', each])]
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill('SIGKILL'))
  const ended = once(child, 'close')
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  // One that a benchmark could not stop must not keep the run from its end.
  child.unref()
  if (child.stdout instanceof Socket) child.stdout.unref()
  const port = Number(/^SMPP on 127\.0\.0\.1:(\d+)/.exec(line)?.[1])
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
