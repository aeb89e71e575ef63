import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { secretsMax } from '@gateway/core/webhooks'
import type { Chance } from '@gateway/core/testing'
import { Webhook } from 'standardwebhooks'
import type { Figures } from './figures.ts'

/** Event as it was pushed. */
export interface PushedEvent {
  readonly id: string
  readonly type: string
  readonly sequence: number
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * Period in which an endpoint counts as disabled: from the first answer 410 until the endpoint is active again and no
 * stored answer 410 can disable it. Times are milliseconds since 1970.
 */
export interface Absence {
  readonly from: number
  readonly to: number
}

/** Events that one endpoint of an account received. */
export interface Received {
  readonly account: number
  /** Id of the endpoint in the gateway. */
  readonly webhook: number
  /** All pushed events by id, whatever the answer. */
  readonly pushed: ReadonlyMap<string, PushedEvent>
  /** Ids of events that were completely answered with 200. */
  readonly acknowledged: ReadonlySet<string>
  /** Lists that contained an event, by the id of the event. */
  readonly listsOf: ReadonlyMap<string, ReadonlySet<string>>
  readonly absences: readonly Absence[]
  /** Number of replays of each single event that are known to have happened, by the id of the event. */
  readonly replayed: ReadonlyMap<string, number>
}

export interface Receiver {
  urlOf(account: number): string
  /** Registers an endpoint before the first push. */
  expect(account: number, webhook: number, secret: string): void
  /**
   * Registers that a secret is about to be rotated. Call the returned function with the new secret after the answer.
   */
  rotates(account: number): (secret: string) => void
  /**
   * Registers that one event, or all events of a period if `event` is undefined, are about to be replayed. Call the
   * returned function after the answer.
   */
  replays(account: number, event: string | undefined): () => void
  /**
   * Records a pause. Five seconds later no push may arrive any more. Call the returned function before the endpoint is
   * resumed.
   */
  paused(account: number): () => void
  /**
   * Returns the lists answered with 410 since the endpoint was last active, with their times; undefined if there are
   * none.
   */
  gone(account: number): ReadonlyMap<string, number> | undefined
  /** Records that the endpoint is active and no answer 410 can be stored any more. */
  isBack(account: number): void
  /** Stops answering 410 for the endpoints of the account. */
  stays(account: number): void
  received(): readonly Received[]
  /** Answers everything with 200 from now on. */
  calmDown(): void
  close(): Promise<void>
}

/** Times are milliseconds since 1970. */
interface Secret {
  readonly signer: Webhook
  readonly since: number
  /** Number of the rotation that created it. */
  readonly rotation: number
}

interface Endpoint extends Received {
  readonly secrets: Secret[]
  /** Times at which rotations were requested. */
  readonly rotations: number[]
  readonly pushed: Map<string, PushedEvent>
  readonly acknowledged: Set<string>
  /** Content of an event, by its id. */
  readonly contents: Map<string, string>
  readonly listsOf: Map<string, Set<string>>
  /** Events of a list as first pushed, by the id of the list. */
  readonly lists: Map<string, string>
  readonly absences: Absence[]
  readonly gone: Map<string, number>
  mayGo: boolean
  readonly pauses: { readonly from: number; to: number }[]
  /**
   * Number of requested replays of each single event. `requestedForAll` counts the requested replays of all events of a
   * period.
   */
  readonly requested: Map<string, number>
  requestedForAll: number
  readonly replayed: Map<string, number>
}

/** Milliseconds until a change of an endpoint takes effect. */
const effectMilliseconds = 5000
/** Minimum milliseconds for which an endpoint stays active before it answers 410 again. */
const presentMilliseconds = 15_000
const goneShare = 0.03

const moods = { 'answered 500': 0.08, closed: 0.06, 'closed in its answer': 0.04, 'not answered': 0.02 } as const
type Mood = keyof typeof moods | 'answered 200' | 'answered 410'

/**
 * Starts a receiver of webhooks. It randomly fails, closes connections and hangs. It checks at once that a repeated
 * push has the same content under the same ids (P-11).
 */
export async function openReceiver(chance: Chance, figures: Figures): Promise<Receiver> {
  const endpoints = new Map<string, Endpoint>()
  let isCalm = false
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    void receive(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request)
    const endpoint = endpoints.get(request.url ?? '')
    const list = String(request.headers['webhook-id'])
    if (endpoint === undefined) {
      figures.broken('P-11', `a push to ${String(request.url)}`)
      return
    }
    const events = readEvents(endpoint, list, request, body, figures)
    const mood = isGone(endpoint) ? 'answered 410' : moodFor(endpoint.lists.has(list))
    if (mood === 'answered 410') endpoint.gone.set(list, Date.now())
    keep(endpoint, list, events, figures)
    figures.count(`pushes: ${mood}`)
    if (mood === 'answered 200') {
      response.once('finish', () => {
        for (const { id } of events) endpoint.acknowledged.add(id)
      })
    }
    answer(response, mood)
  }

  /**
   * Returns true if this push is answered 410. Further pushes are answered normally until the gateway has disabled the
   * endpoint.
   */
  function isGone({ mayGo, gone, absences }: Endpoint): boolean {
    const present = Date.now() - (absences.at(-1)?.to ?? 0)
    return mayGo && !isCalm && gone.size === 0 && present > presentMilliseconds && chance.happens(goneShare)
  }

  const endpointOf = (account: number): Endpoint => {
    const endpoint = endpoints.get(`/${account}`)
    if (endpoint === undefined) throw new Error(`account ${account} has no endpoint`)
    return endpoint
  }

  /** A list that was pushed before is accepted in most cases, because a third attempt would be minutes away. */
  function moodFor(wasPushed: boolean): Mood {
    if (isCalm || (wasPushed && chance.happens(0.8))) return 'answered 200'
    let at = chance.between(0, 999) / 1000
    for (const [mood, share] of Object.entries(moods) as [keyof typeof moods, number][])
      if ((at -= share) < 0) return mood
    return 'answered 200'
  }

  return {
    urlOf: (account) => `http://127.0.0.1:${port}/${account}`,
    expect: (account, webhook, secret) =>
      void endpoints.set(`/${account}`, {
        account,
        webhook,
        secrets: [{ signer: new Webhook(secret), since: 0, rotation: 0 }],
        rotations: [0],
        pushed: new Map(),
        acknowledged: new Set(),
        contents: new Map(),
        listsOf: new Map(),
        lists: new Map(),
        absences: [],
        gone: new Map(),
        mayGo: true,
        pauses: [],
        requested: new Map(),
        requestedForAll: 0,
        replayed: new Map(),
      }),
    rotates: (account) => {
      const { secrets, rotations } = endpointOf(account)
      const rotation = rotations.push(Date.now()) - 1
      return (secret) => void secrets.push({ signer: new Webhook(secret), since: Date.now(), rotation })
    },
    replays: (account, event) => {
      const endpoint = endpointOf(account)
      if (event === undefined) endpoint.requestedForAll++
      else countUp(endpoint.requested, event)
      return () => {
        if (event !== undefined) countUp(endpoint.replayed, event)
      }
    },
    paused: (account) => {
      const pause = { from: Date.now(), to: Infinity }
      endpointOf(account).pauses.push(pause)
      return () => void (pause.to = Date.now())
    },
    gone: (account) => {
      const { gone } = endpointOf(account)
      return gone.size === 0 ? undefined : gone
    },
    isBack: (account) => {
      const { gone, absences } = endpointOf(account)
      absences.push({ from: Math.min(...gone.values()), to: Date.now() })
      gone.clear()
    },
    stays: (account) => void (endpointOf(account).mayGo = false),
    received: () => [...endpoints.values()],
    calmDown: () => void (isCalm = true),
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

const countUp = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1)

function readEvents(
  endpoint: Endpoint,
  list: string,
  { headers }: IncomingMessage,
  body: string,
  figures: Figures,
): readonly PushedEvent[] {
  const { account, pauses } = endpoint
  const begun = Number(headers['webhook-timestamp']) * 1000
  for (const { signer } of signingAt(endpoint, begun)) {
    figures.count('signatures verified')
    try {
      signer.verify(body, headers as Record<string, string>)
    } catch (error) {
      figures.broken('P-11', `list ${list} of account ${account}: ${String(error)}`)
    }
  }
  if (String(headers['webhook-signature']).split(' ').length > secretsMax)
    figures.broken('P-11', `list ${list} of account ${account} has more signatures than secrets sign`)
  // `begun` is truncated to a second, so the push may have begun up to a second later.
  if (pauses.some(({ from, to }) => begun > from + effectMilliseconds && begun + 1000 < to))
    figures.broken('P-11', `list ${list} of account ${account} was pushed while it was paused`)
  return (JSON.parse(body) as { readonly data: { readonly events: readonly PushedEvent[] } }).data.events
}

/**
 * Returns the secrets that may sign a request that began at this time. A secret must have been created long enough
 * before, and there must not be too many later secrets.
 */
const signingAt = ({ secrets, rotations }: Endpoint, begun: number): readonly Secret[] =>
  secrets.filter(({ since, rotation }) => {
    const followers = rotations.slice(rotation + 1).filter((time) => time < begun + 1000)
    return since + effectMilliseconds <= begun && followers.length < secretsMax
  })

/**
 * Asserts that a repeated list and a repeated event are unchanged. Also asserts that an event occurs only in its own
 * list and in at most one more list for each requested replay.
 */
function keep(endpoint: Endpoint, list: string, events: readonly PushedEvent[], figures: Figures): void {
  const { account, lists, contents, listsOf, pushed, requested: requests, requestedForAll } = endpoint
  const text = JSON.stringify(events)
  if ((lists.get(list) ?? text) !== text)
    figures.broken('P-11', `list ${list} of account ${account} was another before`)
  if (lists.has(list)) figures.count('pushes: repeated')
  lists.set(list, text)
  for (const event of events) {
    const content = JSON.stringify(event)
    const before = contents.get(event.id) ?? content
    if (before !== content) figures.broken('P-11', `event ${content} of account ${account} was ${before} before`)
    contents.set(event.id, content)
    const eventLists = listsOf.get(event.id) ?? new Set()
    listsOf.set(event.id, eventLists.add(list))
    if (eventLists.size > 1 + requestedForAll + (requests.get(event.id) ?? 0))
      figures.broken('P-11', `event ${event.id} of account ${account} came in the lists ${[...eventLists].join(', ')}`)
    pushed.set(event.id, event)
  }
}

function answer(response: ServerResponse, mood: Mood): void {
  if (mood === 'answered 200') response.end()
  else if (mood === 'answered 410') response.writeHead(410).end()
  else if (mood === 'answered 500') response.writeHead(500).end('not now')
  else if (mood === 'closed') response.destroy()
  else if (mood === 'closed in its answer') {
    response.writeHead(500, { 'content-length': '100' }).write('a part', () => response.destroy())
  }
}
