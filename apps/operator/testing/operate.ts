import { Readable, Writable } from 'node:stream'
import type { Clock, Ports } from '@gateway/core'
import {
  memorySecretBox,
  memorySecrets,
  memoryStore,
  memoryStoredPorts,
  scriptedWebhookClient,
  steppingClock,
  type MemoryStore,
} from '@gateway/core/testing'
import { terminal } from '../src/terminal.ts'
import { runCommandLine, type Opened } from '../src/run-command-line.ts'

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Operator {
  readonly ports: Ports
  readonly store: MemoryStore
  /** Runs a command that may fail. `typed` is what comes by standard input. */
  run(args: readonly string[], typed?: string): Promise<Outcome>
  /** Runs a command that must succeed, with `--json`, and returns its document. */
  json<Result>(...args: readonly string[]): Promise<Result>
  /** The user ends the command that runs. */
  interrupt(): void
  /** What the command that runs has written so far. */
  written(): string
}

/** Who operates a gateway in memory that begins empty, on 2026-10-18 at 10:00 of the gateway's time. */
export function anOperator(
  other: {
    ports?: (ports: Ports) => Ports
    migrate?: Opened['migrate']
    copyTo?: Opened['copyTo']
    clock?: Clock
    variables?: Readonly<Record<string, string>>
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
  const ports = other.ports?.(inMemory) ?? inMemory
  const migrate = other.migrate ?? (() => Promise.resolve([]))
  const copyTo = other.copyTo ?? (() => Promise.resolve([]))
  let out = textOf()
  let interruption = new AbortController()

  async function run(args: readonly string[], typed = ''): Promise<Outcome> {
    const err = textOf()
    out = textOf()
    interruption = new AbortController()
    const code = await runCommandLine(args, {
      out: out.stream,
      err: err.stream,
      input: () =>
        terminal(
          Readable.from([Buffer.from(typed)]),
          () => undefined,
          () => undefined,
        ),
      interruption: interruption.signal,
      variables: other.variables ?? {},
      withDatabase: (work) => work({ ports, migrate, copyTo }),
    })
    return { code, out: out.text(), err: err.text() }
  }

  return {
    ports,
    store,
    run,
    json: async <Result>(...args: readonly string[]) => {
      const { code, out, err } = await run([...args, '--json'])
      if (code !== 0 || err !== '') throw new Error(`${args.join(' ')} ended with ${code}: ${err}`)
      return JSON.parse(out) as Result
    },
    interrupt: () => interruption.abort(),
    written: () => out.text(),
  }
}

/** A stream that keeps what it is given; a terminal, if so wanted. */
export function textOf(isTTY = false): { stream: Writable & { isTTY: boolean }; text(): string } {
  let text = ''
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString()
      done()
    },
  })
  return { stream: Object.assign(stream, { isTTY }), text: () => text }
}
