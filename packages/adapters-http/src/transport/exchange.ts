import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { Dispatcher, Pool } from 'undici'
import type { HttpAnswer } from '../answers/read-answer.ts'
import type { HttpRequest } from '../requests/build-request.ts'

/**
 * Outcome of one request. 'unsent': no byte of the request has left this machine, so the message can be sent elsewhere.
 * 'unknown': bytes were sent, but no complete answer arrived.
 */
export type Exchange =
  | { readonly outcome: 'answered'; readonly answer: HttpAnswer }
  | { readonly outcome: 'unsent'; readonly reason: string }
  | { readonly outcome: 'unknown'; readonly reason: string }

export interface TransportSettings {
  /** Scheme, host and port of the provider. */
  readonly origin: string
  /** Maximum number of connections, each of which carries one request at a time. */
  readonly connections: number
  /** Time limit for name resolution, connection and TLS handshake. */
  readonly connectSeconds: number
  /** Time limit from the first byte of a request to the last byte of the answer. */
  readonly responseSeconds: number
  /** Certificate authorities in PEM that replace the authorities that Node trusts. */
  readonly ca?: string | undefined
}

/** Connections to one provider. */
export interface Transport {
  /** Sends a request and resolves to its outcome in bounded time. Never rejects. */
  exchange(request: HttpRequest): Promise<Exchange>
  /** Returns the number of open connections, and how many of these connections carry a request. */
  connections(): { readonly open: number; readonly inUse: number }
  /** Closes all connections. Requests under way end as unsent or unknown. */
  close(): Promise<void>
}

/** Maximum number of bytes of an answer, compressed and decompressed. The rest is not read. */
const answerBytesMax = 256 * 1024
/**
 * Time after which idle connections are closed. Most servers wait longer, so requests rarely meet a closed connection.
 */
const idleMilliseconds = 4000
/** A request up to this size leaves in one write, which succeeds or fails as a whole. */
const singleWriteBytesMax = 8 * 1024

/** Creates the connections to a provider; each is opened when it is needed. Redirects are not followed. */
export function createTransport(settings: TransportSettings): Transport {
  let pool: Pool | undefined
  // undici is loaded with the first request, because loading takes 0.1 s. Commands and processes that send nothing do
  // not need it.
  let loading: Promise<Pool> | undefined
  const load = () => (loading ??= openPool(settings).then((opened) => (pool = opened)))

  const dispatch = async ({ url, method, headers, body }: HttpRequest): Promise<RawExchange> => {
    const connections = await load()
    const { origin, pathname, search } = new URL(url)
    const bytes = body === undefined ? null : Buffer.from(body)
    const size = url.length + JSON.stringify(headers).length + (bytes?.length ?? 0)
    return new Promise((resolve) => {
      connections.dispatch(
        { origin, path: `${pathname}${search}`, method, headers: { ...ownHeaders, ...headers }, body: bytes },
        answerReader(settings, size <= singleWriteBytesMax, resolve),
      )
    })
  }
  return {
    exchange: async (request) => {
      try {
        const raw = await dispatch(request)
        return raw.outcome === 'answered' ? await decompressed(raw) : raw
      } catch (problem) {
        // undici rejects a malformed header or path before anything is sent.
        return { outcome: 'unsent', reason: messageOf(problem) }
      }
    },
    connections: () => ({ open: pool?.stats.connected ?? 0, inUse: pool?.stats.running ?? 0 }),
    close: async () => (await loading)?.destroy(),
  }
}

async function openPool({ origin, connections, connectSeconds, ca }: TransportSettings): Promise<Pool> {
  // Import the default export, because bundlers give a dynamically imported CommonJS module no named exports.
  const { default: undici } = await import('undici')
  return new undici.Pool(origin, {
    connections,
    pipelining: 1,
    connect: { timeout: connectSeconds * 1000, ...(ca !== undefined && { ca }) },
    keepAliveTimeout: idleMilliseconds,
    keepAliveMaxTimeout: idleMilliseconds,
    maxHeaderSize: 16 * 1024,
    // Off, because each exchange has its own timers.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

const ownHeaders = { 'user-agent': 'SMS-Gateway/1.0', 'accept-encoding': 'gzip, deflate' }

interface RawAnswer {
  readonly outcome: 'answered'
  readonly status: number
  readonly headers: HttpAnswer['headers']
  readonly bytes: Buffer
}

type RawExchange = RawAnswer | Exclude<Exchange, { readonly outcome: 'answered' }>

/** Reads one answer and calls `settle` once, within the time limits of both phases. */
function answerReader(
  { connectSeconds, responseSeconds }: TransportSettings,
  isSingleWrite: boolean,
  settle: (outcome: RawExchange) => void,
): Dispatcher.DispatchHandler {
  let controller: Dispatcher.DispatchController | undefined
  let isEnded = false
  let head: Pick<RawAnswer, 'status' | 'headers'> | undefined
  const chunks: Buffer[] = []
  let size = 0
  let timer = setTimeout(
    () => fail(`the provider could not be reached within ${connectSeconds} s`),
    connectSeconds * 1000,
  )

  function end(outcome: RawExchange): void {
    if (isEnded) return
    isEnded = true
    clearTimeout(timer)
    settle(outcome)
  }
  function fail(reason: string, hasLeft = controller !== undefined): void {
    end({ outcome: hasLeft ? 'unknown' : 'unsent', reason })
    controller?.abort(new Error(reason))
  }
  function complete(): void {
    if (head === undefined) fail('the answer has no status')
    else end({ outcome: 'answered', ...head, bytes: Buffer.concat(chunks) })
  }
  return {
    onRequestStart(started) {
      // A request must not be sent after its exchange has ended, nor sent twice.
      if (isEnded || controller !== undefined) {
        started.abort(new Error('the request has ended'))
        return
      }
      controller = started
      clearTimeout(timer)
      timer = setTimeout(() => fail(`no complete answer came within ${responseSeconds} s`), responseSeconds * 1000)
    },
    onResponseStart(_, status, headers) {
      if (status >= 200) head = { status, headers: Object.fromEntries(Object.entries(headers).map(singleHeader)) }
    },
    onResponseData(_, chunk) {
      // Copied, because undici reuses the buffer.
      chunks.push(Buffer.from(chunk.subarray(0, answerBytesMax - size)))
      size += chunk.length
      if (size < answerBytesMax) return
      complete()
      controller?.abort(new Error('the answer is too large'))
    },
    onResponseEnd: complete,
    onResponseError: (_, error) => fail(messageOf(error), hasLeft(error, isSingleWrite) && controller !== undefined),
  }
}

const singleHeader = ([name, value]: [string, string | string[] | undefined]): [string, string | undefined] => [
  name,
  Array.isArray(value) ? value.join(', ') : value,
]

/** Returns false if the whole request was in one write that the kernel refused, for example after a reset. */
function hasLeft(error: unknown, isSingleWrite: boolean): boolean {
  const { syscall } = error as NodeJS.ErrnoException
  return !(isSingleWrite && syscall === 'write')
}

const messageOf = (problem: unknown): string => {
  const { code, message } = problem as NodeJS.ErrnoException
  return code === undefined ? message : `${code}: ${message}`
}

const decompressors: Readonly<
  Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>
> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
}

/** Decompresses an answer. One that cannot be decompressed is not complete. */
async function decompressed({ status, headers, bytes }: RawAnswer): Promise<Exchange> {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  const decompress = Object.hasOwn(decompressors, encoding) ? decompressors[encoding] : undefined
  if (decompress === undefined)
    return { outcome: 'answered', answer: { status, headers, body: bytes.toString('utf8') } }
  try {
    const text = await decompress(bytes, { maxOutputLength: answerBytesMax })
    return { outcome: 'answered', answer: { status, headers, body: text.toString('utf8') } }
  } catch (problem) {
    return { outcome: 'unknown', reason: `the answer cannot be decompressed: ${messageOf(problem)}` }
  }
}
