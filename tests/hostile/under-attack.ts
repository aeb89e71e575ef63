import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { until } from '@gateway/core/testing'
import { attempt, quantile, type Attempt } from '../support/attempts.ts'
import type { Attack, Target } from './attack.ts'
import type { Deployment } from './deployment.ts'

export interface Strength {
  readonly full: boolean
  /**
   * Seconds for which the other account sends messages one after another before the measurement. It sends at least ten.
   */
  readonly warmingSeconds: number
  readonly quietSeconds: number
  readonly attackSeconds: number
}

/** Resident memory of the attacked process, in megabytes. */
interface Memory {
  readonly before: number
  readonly most: number
  readonly after: number
}

interface Sends {
  readonly p50: number
  readonly p99: number
  readonly refused: number
}

export interface Figures {
  readonly quiet: Sends
  readonly attacked: Sends
  readonly memory: Memory
  /** Number of answers to the attacker, by HTTP status or SMPP command_status. */
  readonly answers: Readonly<Record<string, number>>
  /** Lines of level error or above, of all processes. */
  readonly errorLines: readonly string[]
  readonly ended: number
}

const main = fileURLToPath(new URL('attacker-process.ts', import.meta.url))
const hook = new URL('../../packages/embedded-postgres/testing/load-typescript.mjs', import.meta.url).href
const register = `import { register } from 'node:module'; register(${JSON.stringify(hook)})`

/** Starts the attack in a process of its own. */
export function startAttacker(attack: Attack, target: Target) {
  const loader = `data:text/javascript,${encodeURIComponent(register)}`
  const args = ['--import', loader, main, attack.title, JSON.stringify(target)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-4000)))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return {
    /** Returns the counts in the last complete line of the attacker's output. */
    answers: (): Record<string, number> => {
      const line = output.split('\n').at(-2)
      return line === undefined ? {} : Object.fromEntries(JSON.parse(line) as [string, number][])
    },
    hasBegun: () => output.includes('\n'),
    stop: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Returns the resident memory of a process, or 0 if it has ended. */
function megabytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000
  } catch {
    return 0
  }
}

let numbers = 0
const nextNumber = () => `278${String(numbers++ % 1_000_000).padStart(6, '0')}01`

/** Measures one attack: another account sends before and during it, and the memory of the process is observed. */
export async function underAttack(attack: Attack, deployment: Deployment, strength: Strength): Promise<Figures> {
  const { by, at = by } = attack
  const { full } = strength
  const victim = deployment.victim(by)
  const { pid } = deployment.serving(at)
  const send = () => attempt(by, victim, nextNumber())

  const prepared = await attack.prepare?.(deployment.hostile('rest'), full, deployment)
  const outputBefore = deployment.processes.map((process) => process.output().length)
  await sendFor(strength.warmingSeconds, send)
  const quiet = await sendFor(strength.quietSeconds, send)
  const before = megabytes(pid)
  let most = before
  const watching = setInterval(() => (most = Math.max(most, megabytes(pid))), 50)

  const attacker = startAttacker(attack, {
    port: deployment.portOf(at),
    key: deployment.hostile(by).key,
    full,
    prepared,
  })
  try {
    await until(attacker.hasBegun)
    const attacked = await sendFor(strength.attackSeconds, send)
    const answers = attacker.answers()
    await attacker.stop()
    const after = await settled(pid, before, full)
    return {
      quiet: sendsOf(quiet),
      attacked: sendsOf(attacked),
      memory: { before, most, after },
      answers,
      errorLines: deployment.processes.flatMap((process, i) => errorsIn(process.output().slice(outputBefore[i]))),
      ended: deployment.processes.filter((process) => !isRunning(process.pid)).length,
    }
  } finally {
    clearInterval(watching)
    await attacker.stop()
  }
}

async function sendFor(seconds: number, send: () => Promise<Attempt>): Promise<readonly Attempt[]> {
  const end = performance.now() + seconds * 1000
  const sent: Attempt[] = []
  while (performance.now() < end || sent.length < 10) sent.push(await send())
  return sent
}

function sendsOf(attempts: readonly Attempt[]): Sends {
  const times = attempts.map(({ milliseconds }) => milliseconds)
  const refused = attempts.filter(({ id }) => id === undefined).length
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), refused }
}

/**
 * Waits until the memory is within 50 MB of its initial value, at most 10 s. Collects garbage in between. The short
 * form does not wait.
 */
async function settled(pid: number, before: number, full: boolean): Promise<number> {
  const isBack = () => until(() => megabytes(pid) < before + 50, 5000).catch(() => undefined)
  if (full) {
    await isBack()
    if (isRunning(pid)) process.kill(pid, 'SIGUSR2')
    await isBack()
  }
  return megabytes(pid)
}

const errorsIn = (output: string): readonly string[] =>
  output.split('\n').filter((line) => /"level":"(?:error|fatal)"/.test(line))

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Formats one line of the table. */
export function rowOf(title: string, figures: Figures): string {
  const { quiet, attacked, memory, answers, errorLines, ended } = figures
  const ms = (value: number) => value.toFixed(value < 10 ? 1 : 0)
  const columns = [
    title.padEnd(56),
    `${ms(quiet.p50)} / ${ms(quiet.p99)}`.padStart(11),
    `${ms(attacked.p50)} / ${ms(attacked.p99)}`.padStart(11),
    [memory.before, memory.most, memory.after]
      .map((value) => value.toFixed())
      .join(' / ')
      .padStart(15),
    String(attacked.refused).padStart(7),
    String(errorLines.length + ended).padStart(6),
    Object.entries(answers)
      .map(([status, count]) => `${status}: ${count}`)
      .join(', '),
  ]
  return columns.join(' | ')
}

export const heading = [
  'attack'.padEnd(56),
  'quiet ms'.padStart(11),
  'attacked ms'.padStart(11),
  'memory MB'.padStart(15),
  'refused',
  'errors',
  'answers to the attacker',
].join(' | ')
