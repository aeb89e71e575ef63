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
 * An object store takes a backup by one PUT to an address that carries its own permission ("presigned", as S3, MinIO,
 * R2 and Google's have it), and gives it by one GET to another one. The query is that permission: no message shows it.
 */

export interface StoreOptions {
  /** Ends it. */
  readonly signal: AbortSignal
  /** A store that takes or gives nothing for so long is given up. */
  readonly idleMilliseconds?: number
}

const idleMillisecondsMost = 60_000
/** As curl: one that says nothing of `Expect: 100-continue` is sent the body after so long. */
const continueMilliseconds = 1000

/** What messages call it. */
export const nameOf = ({ origin, pathname }: URL): string => `${origin}${pathname}`

/**
 * Sends a whole file, with its length, as S3 wants it, and its MD5, by which the store refuses what arrived otherwise
 * (RFC 1864). Resolves to whether the store has told the same MD5 as its ETag. Throws a `Refused` with what it says.
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
    // One that refuses does so before it has everything.
    Expect: '100-continue',
  }
  const answer = await ask(to, 'PUT', headers, options, path)
  if (answer.statusCode !== 200 && answer.statusCode !== 201 && answer.statusCode !== 204)
    throw await refusal(to, answer)
  answer.resume()
  return { isConfirmed: answer.headers.etag?.replaceAll('"', '').toLowerCase() === md5.toString('hex') }
}

/** The bytes of what is there. Throws a `Refused` where it is not given, or breaks off. */
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
  const asking = (url.protocol === 'https:' ? secure : plain)(url, { method, headers, signal })
  asking.setTimeout(idleMilliseconds, () =>
    asking.destroy(new Error(`nothing moved for ${Math.round(idleMilliseconds / 1000)} s`)),
  )
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    asking.once('response', resolve).on('error', reject)
  })
  answered.catch(() => undefined)
  try {
    if (body === undefined) asking.end()
    else {
      const goesOn = new Promise<void>((resolve) => void asking.once('continue', resolve))
      asking.flushHeaders()
      const early = await Promise.race([answered, goesOn, pause(continueMilliseconds, undefined, { ref: false })])
      // What is sent to one that has answered is not waited for.
      if (early === undefined) await Promise.race([pipeline(createReadStream(body), asking), answered])
      else asking.end()
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

/** With what an object store says in XML, of which only these two elements hold no secret. */
async function refusal(url: URL, answer: IncomingMessage): Promise<Refused> {
  let text = ''
  try {
    for await (const piece of answer.setEncoding('utf8')) if (text.length < 10_000) text += piece as string
  } catch {
    // Its status is enough.
  }
  const said = ['Code', 'Message'].flatMap((name) => new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1] ?? [])
  const why = said.length === 0 ? '' : ` (${printable(said.join(': ')).replace(/\.$/, '')})`
  return new Refused(`${nameOf(url)} answered ${answer.statusCode ?? 'nothing'}${why}.`)
}
