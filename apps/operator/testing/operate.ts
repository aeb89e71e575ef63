import { Readable, Writable } from 'node:stream'
import { memoryCarrierShares } from '@gateway/carrier-kit/testing'
import type { Ports } from '@gateway/core'
import type { Clock } from '@gateway/core/time'
import {
  aCarrierId,
  memorySecretBox,
  memorySecrets,
  memoryStore,
  memoryStoredPorts,
  scriptedWebhookClient,
  steppingClock,
  type MemoryStore,
} from '@gateway/core/testing'
import type { Surroundings } from '../src/doctor/rules.ts'
import { terminal } from '../src/terminal.ts'
import { runCommandLine, type Opened } from '../src/run-command-line.ts'
import { checkDocument } from './vocabulary.ts'

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Operator {
  readonly ports: Opened['ports']
  readonly store: MemoryStore
  /** Runs a command that may fail. `typed` is its standard input. */
  run(args: readonly string[], typed?: string | Buffer): Promise<Outcome>
  /** Runs a command that must succeed, with `--json`, and returns its document. */
  json<Result>(...args: readonly string[]): Promise<Result>
  /** Runs a command that only reads and returns all its rows. */
  rows<Row>(...args: readonly string[]): Promise<readonly Row[]>
  /** Runs a command that shows one item and returns it. */
  row<Row>(...args: readonly string[]): Promise<Row>
  /** Interrupts the running command as its user would. */
  interrupt(): void
  /** Returns the output of the running command so far. */
  written(): string
}

const notHere = () => Promise.reject(new Error('not here'))
export const noBackups = { create: notHere, write: notHere, restore: notHere }

/** Surroundings of a healthy embedded PostgreSQL. */
export const soundSurroundings: Surroundings = {
  database: {
    settings: new Map([
      ['server_version', '18.4'],
      ['fsync', 'on'],
      ['full_page_writes', 'on'],
      ['synchronous_commit', 'on'],
      ['synchronous_standby_names', ''],
      ['wal_level', 'replica'],
      ['max_connections', '200'],
    ]),
    standbys: [],
    servers: [],
    connections: 14,
    longestTransactionSeconds: undefined,
    partitionsAhead: 2,
    bytes: 12 * 2 ** 20,
  },
  disk: { free: 50 * 2 ** 30, all: 100 * 2 ** 30 },
  certificates: [],
  clockOffsetSeconds: 0,
}

/** Creates an operator of a gateway in memory. It starts empty, on 2026-10-18 at 10:00 of the gateway's time. */
export function anOperator(
  other: {
    ports?: (ports: Ports) => Ports
    migrate?: Opened['migrate']
    copyTo?: Opened['copyTo']
    backups?: Opened['backups']
    surroundings?: Surroundings
    /** Delays the opening of the database until it resolves. */
    opening?: Promise<void>
    clock?: Clock
    variables?: Readonly<Record<string, string>>
    /** True if standard input and standard error are a terminal. */
    isTerminal?: boolean
  } = {},
): Operator {
  const clock = other.clock ?? steppingClock()
  const store = memoryStore(clock)
  const inMemory: Ports = {
    ...memoryStoredPorts(store),
    clock,
    secrets: memorySecrets(),
    secretBox: memorySecretBox(),
    webhookClient: scriptedWebhookClient(),
  }
  const ports = { ...(other.ports?.(inMemory) ?? inMemory), ...memoryCarrierShares(clock) }
  const migrate = other.migrate ?? (() => Promise.resolve([]))
  const copyTo = other.copyTo ?? (() => Promise.resolve([]))
  const surroundings = other.surroundings ?? soundSurroundings
  const backups = other.backups ?? noBackups
  let out = textOf()
  let interruption = new AbortController()

  async function run(args: readonly string[], typed: string | Buffer = ''): Promise<Outcome> {
    const err = textOf(other.isTerminal)
    out = textOf()
    interruption = new AbortController()
    const code = await runCommandLine(args, {
      out: out.stream,
      err: err.stream,
      input: (show) =>
        terminal(
          Object.assign(Readable.from([Buffer.from(typed)]), { isTTY: other.isTerminal === true }),
          other.isTerminal === true ? show : () => undefined,
          () => undefined,
        ),
      interruption: interruption.signal,
      giveUp: () => undefined,
      openSeconds: other.opening === undefined ? 60 : 0.5,
      variables: other.variables ?? {},
      withDatabase: (work) =>
        (other.opening ?? Promise.resolve()).then(() =>
          work({ ports, migrate, copyTo, backups, surroundings: () => Promise.resolve(surroundings) }),
        ),
    })
    if (args.includes('--json') && out.text().startsWith('{')) checkDocument(args, out.text())
    return { code, out: out.text(), err: err.text() }
  }

  async function json<Result>(...args: readonly string[]): Promise<Result> {
    const { code, out, err } = await run([...args, '--json'])
    if (code !== 0 || err !== '') throw new Error(`${args.join(' ')} ended with ${code}: ${err}`)
    return JSON.parse(out) as Result
  }

  async function rowsOf<Row>(...args: readonly string[]): Promise<readonly Row[]> {
    const { rows, total } = await json<{ rows: readonly Row[]; total: number }>(...args)
    if (total !== rows.length) throw new Error(`${args.join(' ')}: ${rows.length} rows, and a total of ${total}`)
    return rows
  }

  return {
    ports,
    store,
    run,
    json,
    rows: rowsOf,
    row: async <Row>(...args: readonly string[]) => {
      const [row, ...others] = await rowsOf<Row>(...args)
      if (row === undefined || others.length > 0) throw new Error(`${args.join(' ')} shows one thing`)
      return row
    },
    interrupt: () => interruption.abort(),
    written: () => out.text(),
  }
}

/** Dispatches all waiting messages of the single lane to a carrier that accepts them. */
export async function takeAll({ ports: { claimedBatches } }: Operator): Promise<void> {
  const dispatcher = await claimedBatches.register(600)
  const lane = {
    carrier: aCarrierId('sim'),
    lane: 'single',
    messagesMax: 100,
    markedMax: 100,
    leaseSeconds: 600,
  } as const
  const batch = await claimedBatches.claim(dispatcher, lane)
  if (typeof batch === 'string') throw new Error(batch)
  await claimedBatches.record(
    dispatcher,
    batch.messages.map((message) => ({
      ...{ batch: batch.id, message },
      handover: { outcome: 'accepted', reference: `r-${message.id}` },
    })),
  )
  await claimedBatches.retire(dispatcher)
}

/** Creates a stream that stores its input. It acts as a terminal if requested. */
export function textOf(
  isTTY = false,
  columns?: number,
): { stream: Writable & { isTTY: boolean; columns?: number }; text(): string } {
  let text = ''
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString()
      done()
    },
  })
  return { stream: Object.assign(stream, { isTTY, ...(columns === undefined ? {} : { columns }) }), text: () => text }
}
