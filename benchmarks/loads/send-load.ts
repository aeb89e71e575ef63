import { openHttpConnection, type HttpConnection } from './http-connection.ts'
import { addIds, type IdRanges } from './id-ranges.ts'
import { latenciesOf, type Latencies } from './latencies.ts'
import { idsIn, sendRequest, type Interface } from './send-requests.ts'

export interface SendLoad {
  readonly url: string
  readonly face: Interface
  readonly keys: readonly string[]
  readonly connections: number
  /** Recipients of one request. */
  readonly recipients: number
  /** Index of the first number. */
  readonly firstNumber: number
  /** Maximum number of requests. The load ends earlier if its time is over. */
  readonly requests?: number
  readonly seconds?: number
  /**
   * Requests a second, sent even if earlier ones are not answered yet. If undefined, each connection sends again when
   * it gets an answer.
   */
  readonly perSecond?: number
  readonly scheduled?: string
  readonly isKeyed?: boolean
  /**
   * Records for each request the planned time or the time of its answer (milliseconds since 1970), with the id of its
   * first message.
   */
  readonly keepsTimes?: 'of requests' | 'of answers'
}

export interface SendLoadResult {
  readonly requests: number
  /** Number of accepted messages. */
  readonly recipients: number
  readonly seconds: number
  readonly latencies: Latencies
  readonly accepted: IdRanges
  /** Number of answers that were not 200 with an id for each number, by their text. */
  readonly failures: Readonly<Record<string, number>>
  /** Recorded times as a flat list: id, time, id, time … */
  readonly times: readonly number[]
}

/** Sends until the end and counts accepted messages. Latencies are measured from the planned time of a request. */
export async function runSendLoad(load: SendLoad): Promise<SendLoadResult> {
  const {
    face,
    keys,
    recipients,
    scheduled,
    isKeyed,
    perSecond,
    requests: requestsMax = Infinity,
    seconds = Infinity,
  } = load
  const templates = keys.map((key) => sendRequest({ face, key, recipients, scheduled, isKeyed }))
  const connections = await Promise.all(Array.from({ length: load.connections }, () => openHttpConnection(load.url)))
  const milliseconds: number[] = []
  const accepted: IdRanges = []
  const times: number[] = []
  const failures: Record<string, number> = {}
  let begun = 0
  let acceptedCount = 0

  async function one(connection: HttpConnection, index: number, at: number): Promise<void> {
    const template = templates[index % templates.length]
    if (template === undefined) throw new Error('no account to send from')
    const { status, body } = await connection.ask(template.from(load.firstNumber + index * recipients))
    const answeredAt = performance.now()
    milliseconds.push(answeredAt - at)
    const ids = status === 200 ? idsIn(face, body) : []
    addIds(accepted, ids)
    acceptedCount += ids.length
    if (load.keepsTimes !== undefined && ids[0] !== undefined) {
      times.push(ids[0], performance.timeOrigin + (load.keepsTimes === 'of answers' ? answeredAt : at))
    }
    if (ids.length !== recipients) {
      const failure = `${status} ${body.slice(0, 120)}`
      failures[failure] = (failures[failure] ?? 0) + 1
    }
  }

  const start = performance.now()
  const end = start + seconds * 1000
  const mayContinue = (): boolean => begun < requestsMax && performance.now() < end

  async function closed(connection: HttpConnection): Promise<void> {
    while (mayContinue()) await one(connection, begun++, performance.now())
  }

  /** Every connection sends the next request when it is due. */
  async function open(connection: HttpConnection, rate: number): Promise<void> {
    while (mayContinue()) {
      const index = begun++
      const at = start + (index * 1000) / rate
      if (at > end) return
      const wait = at - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      await one(connection, index, at)
    }
  }

  await Promise.all(
    connections.map((connection) => (perSecond === undefined ? closed(connection) : open(connection, perSecond))),
  )
  const took = (performance.now() - start) / 1000
  for (const connection of connections) connection.close()
  return {
    requests: milliseconds.length,
    recipients: acceptedCount,
    seconds: took,
    latencies: latenciesOf(milliseconds),
    accepted,
    failures,
    times,
  }
}
