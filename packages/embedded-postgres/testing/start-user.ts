import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Process that uses the PostgreSQL of a data folder. */
export interface User {
  readonly process: ChildProcess
  /** Lines that the process has printed. */
  readonly lines: readonly Said[]
  /** Resolves to the first line that has `key`. Rejects if the process ends without one. */
  says(key: keyof Said): Promise<Said>
  /** Asks the process to stop using the server and to exit. Resolves to its exit code. */
  finish(): Promise<number | null>
  kill(): Promise<void>
}

export interface Said {
  readonly log?: string
  readonly connectionString?: string
  readonly stopped?: boolean
  readonly rounds?: number
  readonly error?: string
}

export const startUser = (
  dataDir: string,
  task: string[] = ['hold'],
  as: { uid?: number; gid?: number; cwd?: string } = {},
): User => {
  const register = `import { register } from 'node:module'; register(${JSON.stringify(new URL('load-typescript.mjs', import.meta.url).href)})`
  const args = [
    '--import',
    `data:text/javascript,${encodeURIComponent(register)}`,
    fileURLToPath(new URL('user-process.ts', import.meta.url)),
    dataDir,
    ...task,
  ]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], ...as })
  const lines: Said[] = []
  const waiting = new Set<() => void>()
  const wake = () => waiting.forEach((look) => look())
  createInterface(child.stdout).on('line', (line) => {
    lines.push(JSON.parse(line) as Said)
    wake()
  })
  child.stdin.on('error', () => undefined)
  let ended = false
  const end = new Promise<number | null>((resolve) => child.once('close', resolve)).finally(() => {
    ended = true
    wake()
  })
  return {
    process: child,
    lines,
    says: (key) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.find((line) => key in line)
          if (found !== undefined) resolve(found)
          else if (ended) reject(new Error(`the process ended after printing ${JSON.stringify(lines)}`))
          else return
          waiting.delete(look)
        }
        waiting.add(look)
        look()
      }),
    finish: () => {
      child.stdin.end('\n')
      return end
    },
    kill: async () => {
      child.kill('SIGKILL')
      await end
    },
  }
}
