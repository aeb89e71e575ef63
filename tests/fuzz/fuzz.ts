import { connect } from 'node:net'
import fc from 'fast-check'
import { isDescribed } from '../../apps/asp/testing/is-described.ts'
import { complaint } from '../../apps/rest/testing/complaint.ts'
import { openConnection, readAnswer, type Answer, type Connection } from './connection.ts'
import type { Caller, Input, Target } from './inputs.ts'

/** Results of the inputs of a target. */
export interface Tally {
  readonly target: Target
  readonly inputs: number
  /** Number of HTTP 200 answers; on the older interfaces, those without an error of the whole call. */
  readonly done: number
  readonly statuses: Readonly<Record<number, number>>
  readonly slowestMs: number
  /** Answers that must never occur, with their inputs. */
  readonly wrong: readonly string[]
}

const slowMs = 1000
const chunk = 500
const connections = 12

/** Sends this many inputs to a target, over several connections. The same seed yields the same inputs. */
export async function fuzz(target: Target, { port, caller, count, seed }: Fuzzing): Promise<Tally> {
  const arbitrary = target.inputs(caller)
  const ask = target.by === 'raw' ? rawAsker(port) : undefined
  const open: Connection[] = Array.from({ length: connections }, () => openConnection(port))
  const statuses: Record<number, number> = {}
  const slow: Input[] = []
  const wrong: string[] = []
  let [done, slowestMs] = [0, 0]
  const send = async (input: Input, connection: Connection): Promise<void> => {
    const answer = await (ask?.(input) ?? connection.ask(input.bytes, isHead(input)))
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
    if (isDone(target, answer)) done++
    if (answer.milliseconds > slowMs) slow.push(input)
    slowestMs = Math.max(slowestMs, answer.milliseconds)
    const found = target.by === 'raw' ? faultOfRaw(answer) : fault(target, input, answer)
    if (found !== undefined) wrong.push(`${found}\n${shown(input)}\n${answer.status} ${answer.body.slice(0, 300)}`)
  }
  for (let from = 0; from < count && wrong.length < 10; from += chunk) {
    const inputs = fc.sample(arbitrary, { numRuns: Math.min(chunk, count - from), seed: (seed + from) | 0 })
    await Promise.all(
      open.map(async (connection) => {
        for (let input = inputs.pop(); input !== undefined; input = inputs.pop()) await send(input, connection)
      }),
    )
  }
  // Other load may have caused a slow answer. Each slow input is therefore sent three more times alone, and at least
  // one of these answers must be fast.
  for (const input of slow.slice(0, 20)) {
    const looks: number[] = []
    for (let look = 0; look < 3; look++) {
      const { milliseconds } = await (ask?.(input) ??
        open[0]?.ask(input.bytes, isHead(input)) ??
        Promise.reject(new Error()))
      looks.push(milliseconds)
    }
    if (Math.min(...looks) > slowMs) wrong.push(`an answer over ${slowMs} ms, four times\n${shown(input)}`)
  }
  for (const connection of open) connection.close()
  return {
    target,
    inputs: Math.min(
      count,
      Object.values(statuses).reduce((sum, each) => sum + each, 0),
    ),
    done,
    statuses,
    slowestMs,
    wrong,
  }
}

export interface Fuzzing {
  readonly port: number
  readonly caller: Caller
  readonly count: number
  readonly seed: number
}

const isHead = ({ method }: Input): boolean => method === 'HEAD'

const shown = ({ bytes }: Input): string => JSON.stringify(bytes.toString('latin1').slice(0, 2000))

/** Matches answers of the older interfaces that refuse the whole call. Their HTTP status is 200 too. */
const refused = /^(?:FAIL&|Error=|Login=FAIL|Credits=FAIL|Transfer=invalidUser)|<Error>/

const isDone = ({ by }: Target, { status, body }: Answer): boolean =>
  status === 200 && (by === 'rest' || !refused.test(body))

/** Returns a description of what is wrong with an answer, or undefined if nothing is wrong. */
function fault({ by, name }: Target, input: Input, answer: Answer): string | undefined {
  const { path } = input
  const { status, body } = answer
  if (status === 0) return 'no answer'
  if (status >= 500) return 'an internal error'
  if (isHead(input)) return undefined
  if (by === 'rest') return restFault(input, answer)
  if (by === 'xml') return xmlFault(path.toLowerCase() === `/api${name}`, status, body)
  const isKnown = path.split('?')[0]?.toLowerCase() === `/api${name}`
  return status !== 200 || (isKnown && isDescribed(name, body)) ? undefined : 'an answer that is not described'
}

function restFault({ method, path }: Input, { status, headers, body }: Answer): string | undefined {
  if (!path.startsWith('/api/rest/v1/') || isUnread(path, headers)) return undefined
  if (headers['connection'] === 'close' && status !== 405)
    return body.startsWith(`{"timeStamp":"`) && body.includes(`"statusCode":${status},"errorMessage":"`)
      ? undefined
      : 'no envelope'
  try {
    return complaint({ method, path: path.split('?')[0]?.replace(/\/$/, '') ?? '', status, headers, body })
  } catch (error) {
    return `no envelope: ${String(error)}`
  }
}

/**
 * Returns true if the server refused the request before it read the path. This happens if the long request line arrives
 * in several pieces.
 */
const isUnread = (path: string, headers: Answer['headers']): boolean =>
  path.length > 60_000 && headers['connection'] === 'close'

const xmlAnswer = /^<\?xml version="1.0" encoding="utf-8"\?><(XMLGateway\w*)(?:\/>|>[\s\S]*<\/\1>)$/

/**
 * Returns what is wrong with an answer of the XML interface. Unknown operations and unreadable requests are answered in
 * plain text.
 */
const xmlFault = (isOperation: boolean, status: number, body: string): string | undefined =>
  !isOperation || [400, 431].includes(status) || xmlAnswer.test(body) ? undefined : 'no document'

const faultOfRaw = ({ status }: Answer): string | undefined => (status >= 500 ? 'an internal error' : undefined)

/** Writes bytes to a new connection and ends it. Returns the first answer, or status 0 if there is none. */
const rawAsker =
  (port: number) =>
  ({ bytes }: Input): Promise<Answer> =>
    new Promise((resolve) => {
      const begun = performance.now()
      const socket = connect(port, '127.0.0.1', () => socket.end(bytes))
      let received: Buffer = Buffer.alloc(0)
      socket.on('data', (piece: Buffer) => (received = Buffer.concat([received, piece])))
      socket.on('error', () => undefined)
      socket.on('close', () => {
        const answer = readAnswer(received, false, true) ?? { status: 0, headers: {}, body: '' }
        resolve({ ...answer, milliseconds: performance.now() - begun })
      })
    })
