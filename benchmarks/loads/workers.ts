import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Jobs } from './jobs.ts'

/** A process of its own that makes load, one job at a time. */
export interface Worker {
  /** `cpu`: what making the load cost, µs. */
  run<Job extends keyof Jobs>(
    job: Job,
    options: Parameters<Jobs[Job]>[0],
  ): Promise<Awaited<ReturnType<Jobs[Job]>> & { readonly cpu: number }>
  end(): void
}

const running = new Set<ChildProcess>()

export function startWorker(): Worker {
  const child = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), [], { execArgv: process.execArgv })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return {
    run: (job, options) =>
      new Promise((resolve, reject) => {
        const ended = (code: number | null): void => reject(new Error(`a load process ended with ${String(code)}`))
        child.once('exit', ended)
        child.once('message', ({ result, cpu, error }: { result: object; cpu: number; error?: string }) => {
          child.off('exit', ended)
          if (error === undefined) resolve({ ...result, cpu } as never)
          else reject(new Error(`${job}: ${error}`))
        })
        child.send({ job, options })
      }),
    end: () => void child.kill('SIGKILL'),
  }
}

export function endWorkers(): void {
  for (const child of running) child.kill('SIGKILL')
}
