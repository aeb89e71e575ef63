import { openHttpConnection, type HttpConnection } from './http-connection.ts'
import { latenciesOf, type Latencies } from './latencies.ts'

export interface AskLoad {
  readonly url: string
  readonly connections: number
  /** Sent one after the other, over and over. */
  readonly wires: readonly string[]
  /** Each answer must hold it so often. */
  readonly mark: string
  readonly marks: number
  /** Ends after so many requests or so many seconds, whichever comes first. */
  readonly requests?: number
  readonly seconds?: number
}

export interface AskLoadResult {
  readonly requests: number
  readonly seconds: number
  readonly latencies: Latencies
  readonly failures: Readonly<Record<string, number>>
}

/** Sends the same requests until the end; each connection sends again when it is answered. */
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
      if (request === undefined) throw new Error('nothing to ask')
      const at = performance.now()
      const { status, body } = await connection.ask(request)
      milliseconds.push(performance.now() - at)
      if (status === 200 && countOf(body, mark) === marks) continue
      const what = `${status} ${body.slice(0, 120)}`
      failures[what] = (failures[what] ?? 0) + 1
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
