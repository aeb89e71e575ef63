import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { spawnSmsc } from './process.ts'

/** A line of the journal of `gateway-smsc`; what a test looks at. */
export interface JournalLine {
  readonly event: string
  readonly command?: string
  readonly destinationAddr?: string
  readonly sourceAddr?: string
  readonly esmClass?: number
  readonly registeredDelivery?: number
  /** In hexadecimal. */
  readonly shortMessage?: string
}

/** `gateway-smsc` in a process of its own, which keeps its journal and what it owes below a folder. */
export interface RunningSmsc {
  readonly port: number
  /** Where it is bound to, with its password. */
  readonly url: string
  /** What was ever received or sent, over all runs with this folder. */
  journal(): Promise<readonly JournalLine[]>
  /** The submit_sm that ever came. */
  submits(): Promise<readonly JournalLine[]>
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export const smscPassword = 'pa55w0rd'

/** Starts it with a folder that exists, on a port or any free one; `settings` as `receiptDelay=0`. */
export async function startSmscProcess(folder: string, settings: readonly string[], onPort = 0): Promise<RunningSmsc> {
  const file = join(folder, 'smsc.jsonl')
  const sets = settings.flatMap((each) => ['--set', each])
  const place = ['--port', String(onPort), '--control-port', '0', '--journal', file, '--folder', folder]
  const smsc = spawnSmsc([...place, '--system-id', 'gateway', '--password', smscPassword, ...sets])
  const port = await until(() => {
    if (smsc.hasEnded()) throw new Error(`it has ended:\n${smsc.output()}`)
    const [, number] = /^SMPP on 127\.0\.0\.1:(\d+), /m.exec(smsc.output()) ?? []
    return number === undefined ? undefined : Number(number)
  })
  const journal = async (): Promise<readonly JournalLine[]> =>
    (await readFile(file, 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as JournalLine)
  return {
    port,
    url: `smpp://gateway:${smscPassword}@127.0.0.1:${port}`,
    journal,
    submits: async () =>
      (await journal()).filter(({ event, command }) => event === 'received' && command === 'submit_sm'),
    stop: smsc.stop,
  }
}
