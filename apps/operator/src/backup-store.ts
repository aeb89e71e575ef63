import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { request as plain, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as secure } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { Refused } from './command.ts'
import { printable } from './output.ts'

/*
 * Object stores (S3, MinIO, R2, Google) accept a backup by one PUT to a presigned URL and return it by one GET to
 * another. The query of a presigned URL grants access, so no message shows it.
 */

export interface StoreOptions {
  /** Aborts the transfer. */
  readonly signal: AbortSignal
  /** Milliseconds without any transfer after which the request fails. */
  readonly idleMilliseconds?: number
}

const idleMillisecondsMost = 60_000
/** Milliseconds to wait for `100 Continue` before the body is sent anyway, as curl does. */
const continueMilliseconds = 1000

/** Returns a URL as messages show it: without its query, which may grant access. */
export const nameOf = ({ origin, pathname }: URL): string => `${origin}${pathname}`

/**
 * Sends a whole file with its length, which S3 requires, and its MD5, with which the store detects a damaged transfer
 * (RFC 1864). Returns whether the ETag of the store confirms the MD5. Throws a Refused with the store's error.
 */
export async function putFile(
  path: string,
  to: URL,
  options: StoreOptions,
): Promise<{ readonly isConfirmed: boolean }> {
  const { size } = await stat(path)
  const hash = createHash('md5')
  await pipeline(createReadStream(path), hash)
  const md5 = hash.digest()
  const headers = {
    'Content-Length': size,
    'Content-MD5': md5.toString('base64'),
    'Content-Type': 'application/octet-stream',
    // Lets the store refuse the request before the whole file is sent.
    Expect: '100-continue',
  }
  const answer = await ask(to, 'PUT', headers, options, path)
  if (answer.statusCode !== 200 && answer.statusCode !== 201 && answer.statusCode !== 204)
    throw await refusal(to, answer)
  answer.resume()
  return { isConfirmed: answer.headers.etag?.replaceAll('"', '').toLowerCase() === md5.toString('hex') }
}

/** Downloads the bytes of a URL. Throws a Refused if the store refuses or the transfer breaks off. */
export async function* getBytes(from: URL, options: StoreOptions): AsyncIterable<Buffer> {
  const answer = await ask(from, 'GET', {}, options)
  if (answer.statusCode !== 200) throw await refusal(from, answer)
  try {
    for await (const piece of answer as AsyncIterable<Buffer>) yield piece
  } catch (problem) {
    throw failure(from, problem)
  }
}

async function ask(
  url: URL,
  method: string,
  headers: RequestOptions['headers'],
  { signal, idleMilliseconds = idleMillisecondsMost }: StoreOptions,
  body?: string,
): Promise<IncomingMessage> {
  const request = (url.protocol === 'https:' ? secure : plain)(url, { method, headers, signal })
  request.setTimeout(idleMilliseconds, () =>
    request.destroy(new Error(`no data was transferred for ${Math.round(idleMilliseconds / 1000)} s`)),
  )
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).on('error', reject)
  })
  answered.catch(() => undefined)
  try {
    if (body === undefined) request.end()
    else {
      const goesAhead = new Promise<void>((resolve) => void request.once('continue', resolve))
      request.flushHeaders()
      const early = await Promise.race([answered, goesAhead, pause(continueMilliseconds, undefined, { ref: false })])
      // Once the store has answered, the rest of the body does not matter.
      if (early === undefined) await Promise.race([pipeline(createReadStream(body), request), answered])
      else request.end()
    }
    return await answered
  } catch (problem) {
    throw failure(url, problem)
  }
}

function failure(url: URL, problem: unknown): Error {
  const { name, message, code } = problem as NodeJS.ErrnoException
  if (name === 'AbortError') return problem as Error
  return new Refused(`${nameOf(url)} cannot be used: ${code === 'ECONNRESET' ? 'the connection was cut' : message}.`)
}

/**
 * Creates an error from Code and Message of the store's XML answer. These are the only elements that hold no secret.
 */
async function refusal(url: URL, answer: IncomingMessage): Promise<Refused> {
  let text = ''
  try {
    for await (const piece of answer.setEncoding('utf8')) if (text.length < 10_000) text += piece as string
  } catch {
    // If the body cannot be read, the error contains only the status.
  }
  const words = ['Code', 'Message'].flatMap((name) => new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1] ?? [])
  const why = words.length === 0 ? '' : ` (${printable(words.join(': ')).replace(/\.$/, '')})`
  return new Refused(`${nameOf(url)} answered ${answer.statusCode ?? 'nothing'}${why}.`)
}
