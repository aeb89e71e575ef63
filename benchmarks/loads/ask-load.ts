import { openHttpConnection, type HttpConnection } from './http-connection.ts'
import { latenciesOf, type Latencies } from './latencies.ts'

export interface AskLoad {
  readonly url: string
  readonly connections: number
  /** Requests, sent in turn. */
  readonly wires: readonly string[]
  /** Text that each answer must contain, and how often. */
  readonly mark: string
  readonly marks: number
  /** Maximum number of requests. The load ends earlier if its time is over. */
  readonly requests?: number
  readonly seconds?: number
}

export interface AskLoadResult {
  readonly requests: number
  readonly seconds: number
  readonly latencies: Latencies
  readonly failures: Readonly<Record<string, number>>
}

/** Sends the same requests until the end. Each connection sends again when it gets an answer. */
export async function runAskLoad(load: AskLoad): Promise<AskLoadResult> {
  const { wires, mark, marks, requests: requestsMax = Infinity, seconds = Infinity } = load
  const buffers = wires.map((wire) => Buffer.from(wire, 'latin1'))
  const connections = await Promise.all(Array.from({ length: load.connections }, () => openHttpConnection(load.url)))
  const milliseconds: number[] = []
  const failures: Record<string, number> = {}
  let begun = 0
  const start = performance.now()
  const end = start + seconds * 1000

  async function keepAsking(connection: HttpConnection): Promise<void> {
    while (begun < requestsMax && performance.now() < end) {
      const request = buffers[begun++ % buffers.length]
      if (request === undefined) throw new Error('there are no requests')
      const at = performance.now()
      const { status, body } = await connection.ask(request)
      milliseconds.push(performance.now() - at)
      if (status === 200 && countOf(body, mark) === marks) continue
      const failure = `${status} ${body.slice(0, 120)}`
      failures[failure] = (failures[failure] ?? 0) + 1
    }
  }

  await Promise.all(connections.map(keepAsking))
  const took = (performance.now() - start) / 1000
  for (const connection of connections) connection.close()
  return { requests: milliseconds.length, seconds: took, latencies: latenciesOf(milliseconds), failures }
}

function countOf(text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}
