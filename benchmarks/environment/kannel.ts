import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { cpuOf } from './cpu.ts'

/** Free ports of Kannel in the benchmark. */
const ports = { admin: 27_760, smsbox: 27_761, sending: 27_762, smsc: 27_763 }

export const kannelUser = { username: 'bench', password: 'bench' } as const

/** Kannel without a connected SMSC, so that it stores messages and sends none. */
export interface Kannel {
  /** URL of `sendsms`. */
  readonly url: string
  /** Returns the CPU time of both processes since their start, in µs. */
  cpu(): Promise<number>
  stop(): Promise<void>
}

const isInstalled = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0

/**
 * Starts the bearerbox and the smsbox of Kannel, with a store of files. Returns undefined if Kannel is not installed.
 */
export async function startKannel(parent: string): Promise<Kannel | undefined> {
  if (!isInstalled('bearerbox') || !isInstalled('smsbox')) return undefined
  const folder = join(parent, 'kannel')
  await mkdir(join(folder, 'spool'), { recursive: true })
  const file = join(folder, 'kannel.conf')
  const { username, password } = kannelUser
  const groups = [
    [
      ...['group = core', `admin-port = ${ports.admin}`, 'admin-password = word', `smsbox-port = ${ports.smsbox}`],
      ...['store-type = spool', `store-location = "${folder}/spool"`, 'sms-outgoing-queue-limit = 10000000'],
    ],
    ['group = smsc', 'smsc = fake', `port = ${ports.smsc}`],
    ['group = smsbox', 'bearerbox-host = 127.0.0.1', `sendsms-port = ${ports.sending}`],
    ['group = sendsms-user', `username = ${username}`, `password = ${password}`, 'max-messages = 1'],
  ]
  await writeFile(file, groups.map((lines) => `${lines.join('\n')}\n`).join('\n'))
  const boxes = [
    await started('bearerbox', file, 'MAIN: Start-up done'),
    await started('smsbox', file, 'Connected to bearerbox'),
  ]
  return {
    url: `http://127.0.0.1:${ports.sending}`,
    cpu: async () => {
      const times = await Promise.all(boxes.map(({ pid }) => cpuOf(pid ?? 0)))
      return times.reduce((sum, time) => sum + time, 0)
    },
    stop: async () => {
      for (const box of boxes.reverse()) await ended(box)
    },
  }
}

/** Starts a box and waits until it has printed this text. */
async function started(program: string, file: string, ready: string): Promise<ChildProcess> {
  const box = spawn(program, ['-v', '1', file], { stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [box.stdout, box.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed = (printed + text).slice(-100_000)))
  for (let looks = 0; !printed.includes(ready); looks++) {
    if (looks > 100 || box.exitCode !== null) throw new Error(`${program} did not start:\n${printed}`)
    await delay(100)
  }
  return box
}

const ended = (box: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    box.once('close', () => resolve())
    box.kill('SIGKILL')
    if (box.exitCode !== null || box.signalCode !== null) resolve()
  })
