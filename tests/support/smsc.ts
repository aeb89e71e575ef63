import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { spawnSmsc } from './process.ts'

/** Line of the journal of `gateway-smsc`, as far as tests need it. */
export interface JournalLine {
  /** Time in ISO 8601. */
  readonly at: string
  readonly link: number
  readonly event: 'received' | 'sent' | 'opened' | 'closed'
  readonly command?: string
  readonly sequence?: number
  /** Name of the command_status. Undefined means ESME_ROK. */
  readonly status?: string
  readonly systemType?: string
  readonly destinationAddr?: string
  readonly sourceAddr?: string
  readonly esmClass?: number
  readonly registeredDelivery?: number
  /** User data in hexadecimal. */
  readonly shortMessage?: string
}

/** Running `gateway-smsc`. Its journal and its outstanding deliveries are stored in a folder. */
export interface RunningSmsc {
  readonly pid: number
  readonly port: number
  /** URL to which clients bind. It contains the password. */
  readonly url: string
  /** Returns all received and sent PDUs, over all runs with this folder. */
  journal(): Promise<readonly JournalLine[]>
  /** Returns all received submit_sm. */
  submits(): Promise<readonly JournalLine[]>
  /** Delivers a message from a mobile, over HTTP. Resolves when every sent PDU has been acknowledged. */
  arrive(arrival: { readonly from: string; readonly to: string; readonly text: string }): Promise<void>
  /** Returns the number of deliver_sm that no client has acknowledged. */
  owes(): Promise<number>
  /** Changes the personality, including that of open links. */
  become(name: string, changes?: Readonly<Record<string, number | string | boolean>>): Promise<void>
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export const smscPassword = 'pa55w0rd'

/**
 * Starts `gateway-smsc` with an existing folder, on the given port or on any free port. `settings` have the form
 * `receiptDelay=0`.
 */
export async function startSmscProcess(folder: string, settings: readonly string[], onPort = 0): Promise<RunningSmsc> {
  const file = join(folder, 'smsc.jsonl')
  const sets = settings.flatMap((each) => ['--set', each])
  const place = ['--port', String(onPort), '--control-port', '0', '--journal', file, '--folder', folder]
  const smsc = spawnSmsc([...place, '--system-id', 'gateway', '--password', smscPassword, ...sets])
  const [port, control] = await until(() => {
    if (smsc.hasEnded()) throw new Error(`it has ended:\n${smsc.output()}`)
    const match = /^SMPP on 127\.0\.0\.1:(\d+), control on (http:\S+)$/m.exec(smsc.output())
    return match === null ? undefined : ([Number(match[1]), match[2] ?? ''] as const)
  })
  const journal = journalOf<JournalLine>(file)
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${control}${path}`, { method, headers, ...sent })
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  const owes = async (): Promise<number> =>
    ((await ask('GET', '/status')) as { readonly deliveriesWaiting: number }).deliveriesWaiting
  return {
    pid: smsc.pid,
    port,
    url: `smpp://gateway:${smscPassword}@127.0.0.1:${port}`,
    journal,
    submits: async () =>
      (await journal()).filter(({ event, command }) => event === 'received' && command === 'submit_sm'),
    arrive: async (arrival) => {
      await ask('POST', '/arrivals', arrival)
      await until(async () => (await owes()) === 0)
    },
    owes,
    become: async (name, changes = {}) => {
      await ask('PUT', '/personality', { name, ...changes })
    },
    stop: smsc.stop,
  }
}

const lineStart = '{"at":"'

/**
 * Returns a function. Each call of it returns the lines appended since its last call. Drops a line that a kill
 * truncated.
 */
export function journalOf<Line>(path: string): () => Promise<readonly Line[]> {
  const lines: Line[] = []
  let at = 0
  let rest = ''
  let reading: Promise<unknown> = Promise.resolve()

  async function readOn(): Promise<void> {
    const file = await open(path).catch(() => undefined)
    if (file === undefined) return
    try {
      const { size } = await file.stat()
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - at), 0, size - at, at)
      at += bytesRead
      const texts = (rest + buffer.toString('latin1', 0, bytesRead)).split('\n')
      rest = texts.pop() ?? ''
      for (const text of texts) lines.push(JSON.parse(text.slice(text.lastIndexOf(lineStart))) as Line)
    } finally {
      await file.close()
    }
  }
  return async () => {
    const mine = reading.then(readOn)
    reading = mine.catch(() => undefined)
    await mine
    return lines
  }
}
