import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Jobs } from './jobs.ts'

/** Result of a job. `cpu` is the CPU time of generating the load, in µs. */
export type Done<Job extends keyof Jobs> = Awaited<ReturnType<Jobs[Job]>> & { readonly cpu: number }

/** Separate process that generates load, one job at a time. */
export interface Worker {
  run<Job extends keyof Jobs>(job: Job, options: Parameters<Jobs[Job]>[0]): Promise<Done<Job>>
  end(): void
}

const running = new Set<ChildProcess>()

export function startWorker(): Worker {
  const child = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), [], { execArgv: process.execArgv })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return {
    run: <Job extends keyof Jobs>(job: Job, options: Parameters<Jobs[Job]>[0]) =>
      new Promise<Done<Job>>((resolve, reject) => {
        const ended = (code: number | null): void => reject(new Error(`a load process ended with ${String(code)}`))
        child.once('exit', ended)
        child.once('message', (message: Done<Job> | { readonly error: string }) => {
          child.off('exit', ended)
          if ('error' in message) reject(new Error(`${job}: ${message.error}`))
          else resolve(message)
        })
        child.send({ job, options })
      }),
    end: () => void child.kill('SIGKILL'),
  }
}

export function endWorkers(): void {
  for (const child of running) child.kill('SIGKILL')
}
