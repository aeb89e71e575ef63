import { verifyCallback, type CallbackRequest } from '@gateway/adapters-http'
import type { Clock } from '@gateway/core/time'
import {
  clientNetwork,
  comesFrom,
  endResponse,
  fallbackHandler,
  onError,
  prepareResponse,
  readBody,
  requestTarget,
  withPlace,
  writeWhole,
  type AdmissionGate,
  type Log,
  type Metrics,
} from '@gateway/server'
import { interfaceOf, notFoundElsewhere } from '@gateway/wire'
import { Router, type Request, type RequestHandler, type Response } from 'express'
import type { CallbackCarrier, CallbackCarriers } from './callback-carriers.ts'
import { CallbackCounts } from './callback-counts.ts'
import { rateLimit } from './rate-limit.ts'
import { RefusedCallbacks, type Refusal } from './refused-callbacks.ts'
import { receiptsTogether } from './receipts-together.ts'
import { storeCallback, type CallbackStore, type StoringCallbacks } from './store-callback.ts'

export interface CallbacksSettings {
  readonly carriers: CallbackCarriers
  readonly clock: Clock
  /** Limits the requests in progress and the memory of bodies. Several routers in one process may share one gate. */
  readonly gate: AdmissionGate
  readonly log: Log
  readonly metrics?: Metrics | undefined
  /** Sample to which refused callbacks are added. If undefined, no sample is kept. */
  readonly refused?: RefusedCallbacks | undefined
  /** Maximum callbacks a second of one carrier from one network; default 1000. */
  readonly perSecondMax?: number
  /** Milliseconds after which a callback that is not stored yet is answered 503; default 1800. */
  readonly answerMilliseconds?: number
}

/** Path of the callbacks of all carriers, below the public URL. */
export const callbacksPath = '/carriers/:carrier/*secret'

/** Maximum size of the body of a callback, in bytes. */
const bodyBytesMax = 262_144

const service = 'callbacks'

/**
 * Returns a router that receives the callbacks of carriers over HTTP at `/carriers/NAME/…`, for any Express app. Mount
 * it before body parsers, because signatures cover the bytes of a body exactly as they arrived. The router answers 2xx
 * after the commit and 403 if the callback cannot be verified. In all other cases it answers 503, so that the provider
 * sends the callback again.
 */
export function callbacksRouter(store: CallbackStore, settings: CallbacksSettings): Router {
  const { log, metrics, carriers, refused = new RefusedCallbacks() } = settings
  const counts = new CallbackCounts(log, refused)
  if (metrics !== undefined) counts.register(metrics, carriers)
  const begin = prepareResponse({ log, metrics, service })
  const prepare: RequestHandler = (_request, response, next) => {
    begin(response)
    next()
  }
  return Router({ caseSensitive: true, strict: true })
    .all(callbacksPath, prepare, callbackHandler(store, settings, counts))
    .use(
      onError(log, (_request, response, status) => {
        write(response, status === 400 ? 400 : 503)
      }),
    )
}

/**
 * Returns a handler that answers 404. A path of an interface is answered in the form of that interface (ruling 3.8),
 * any other path in plain text.
 */
export const callbacksNotFound = ({
  clock,
  ...settings
}: Pick<CallbacksSettings, 'clock' | 'log' | 'metrics'>): RequestHandler =>
  fallbackHandler({ ...settings, service }, (response) => {
    const path = requestTarget(response.req)
    if (interfaceOf(path) === undefined) write(response, 404)
    else writeWhole(response, notFoundElsewhere(path, clock.now()))
  })

function callbackHandler(
  store: CallbackStore,
  settings: CallbacksSettings,
  counts: CallbackCounts,
): RequestHandler<{ carrier: string }> {
  const { carriers, clock, gate, perSecondMax = 1000 } = settings
  const limit = rateLimit(perSecondMax)
  const acceptReceipts = receiptsTogether(store.acceptReceipts, () => clock.now())
  const answer = verifiedHandler({ ...store, acceptReceipts }, settings, counts)
  return async (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'POST') {
      next()
      return
    }
    if (!carriers.isUsable()) {
      write(response, 503)
      return
    }
    const carrier = carriers.find(request.params.carrier)
    if (carrier === undefined) {
      next()
      return
    }
    const network = clientNetwork(request)
    if (!limit.admits(`${carrier.id} ${network}`, clock.now())) {
      counts.count(carrier.id, 'limited')
      write(response, 503)
      return
    }
    const place = gate.bodies.open(network)
    gate.requests.begin()
    try {
      const body = await readBody(request, bodyBytesMax, place)
      if (body === 'aborted') return
      if (body === 'too-large') {
        counts.count(carrier.id, 'too-large')
        write(response, 413)
        return
      }
      if (body === 'overloaded') {
        counts.count(carrier.id, 'unavailable')
        write(response, 503)
        return
      }
      if ('parsed' in body) throw new Error('callbacksRouter must be mounted before parsers of bodies')
      await answer(carrier, request, response, body)
    } catch (error) {
      counts.count(carrier.id, 'unavailable')
      throw error
    } finally {
      gate.requests.end()
      place.release()
    }
  }
}

/** Returns a function that verifies, stores and answers a callback whose body has arrived. */
function verifiedHandler(store: StoringCallbacks, settings: CallbacksSettings, counts: CallbackCounts) {
  const { clock, gate, log, answerMilliseconds = 1800 } = settings
  return async (carrier: CallbackCarrier, request: Request, response: Response, body: Buffer): Promise<void> => {
    const refuse = (refusal: Refusal): void => {
      counts.refuse(carrier.id, refusal, request, { bytes: body.length, now: clock.now() })
      write(response, 403)
    }
    if (carrier.publicUrl === undefined) {
      refuse('no-public-url')
      return
    }
    if (carrier.networks !== undefined && !comesFrom(request)(carrier.networks)) {
      refuse('other-address')
      return
    }
    const callback = callbackRequestOf(carrier.publicUrl, request, body)
    const verified = await verifyCallback(carrier.account, callback, clock.now())
    if (verified !== 'verified') {
      refuse(verified)
      return
    }

    const entered = gate.enter(clientNetwork(request))
    const storing = withPlace(entered, false, async () => {
      await storeCallback(store, carrier, callback)
      return 'stored' as const
    })
    gate.requests.begin()
    void storing.catch(() => undefined).finally(() => gate.requests.end())
    const result = await withinTime(storing, answerMilliseconds)
    if (result === 'stored') {
      counts.count(carrier.id, 'stored')
      const { status, body: text } = carrier.account.provider.description.callbacks?.answer ?? {}
      write(response, status ?? 200, text)
      return
    }
    counts.count(carrier.id, 'unavailable')
    if (result === 'late') {
      storing.catch((err: unknown) =>
        log.warn({ err, carrier: carrier.id }, 'a callback could not be stored after it had been answered 503'),
      )
    }
    write(response, 503)
  }
}

/** Resolves to 'late' if the work takes longer than this. */
async function withinTime<Result>(work: Promise<Result>, milliseconds: number): Promise<Result | 'late'> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), milliseconds)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Returns a request with the URL that the provider called: the public URL, never the Host header. */
const callbackRequestOf = (publicUrl: string, { method, url, headers }: Request, body: Buffer): CallbackRequest => ({
  method,
  url: publicUrl.replace(/\/+$/, '') + url,
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : undefined]),
  ),
  body,
})

const texts: Readonly<Record<number, string>> = {
  400: 'The path could not be read.',
  403: 'The callback could not be verified.',
  404: 'There is nothing here.',
  413: 'The callback is too large.',
  503: 'Please try again later.',
}

/** Writes an answer in plain text. The body is empty if there is no text for the status. */
function write(
  response: Response | Parameters<typeof endResponse>[0],
  status: number,
  text = texts[status] ?? '',
): void {
  response.statusCode = status
  response.setHeader('Cache-Control', 'no-store')
  if (text !== '') response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  if (status === 503) response.setHeader('Retry-After', '5')
  endResponse(response, text)
}
