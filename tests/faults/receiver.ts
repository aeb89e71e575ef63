import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Chance } from '@gateway/core/testing'
import { Webhook } from 'standardwebhooks'
import type { Figures } from './figures.ts'

/** An event as it was pushed. */
export interface PushedEvent {
  readonly id: string
  readonly type: string
  readonly sequence: number
  readonly data: Readonly<Record<string, unknown>>
}

/** What one endpoint of an account was pushed. */
export interface Received {
  readonly account: number
  /** All that was pushed, by its id, whatever was answered. */
  readonly pushed: ReadonlyMap<string, PushedEvent>
  /** The ids of events that were answered with 200, to the end. */
  readonly taken: ReadonlySet<string>
}

export interface Receiver {
  urlOf(account: number): string
  /** Before the first push to it. */
  expect(account: number, secret: string): void
  received(): readonly Received[]
  /** From now on everything is answered with 200. */
  calmDown(): void
  close(): Promise<void>
}

interface Endpoint extends Received {
  readonly account: number
  readonly signer: Webhook
  readonly pushed: Map<string, PushedEvent>
  readonly taken: Set<string>
  /** By the id of an event: the list that it is in, and what is said of it. */
  readonly contents: Map<string, string>
  /** By the id of a list: its events, as they were pushed first. */
  readonly lists: Map<string, string>
}

const moods = { 'answered 500': 0.08, closed: 0.06, 'closed in its answer': 0.04, 'not answered': 0.02 } as const
type Mood = keyof typeof moods | 'answered 200'

/** Receives webhooks, fails, closes and hangs at random, and looks at once whether a repetition says the same under the same ids (P-11). */
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
    const mood = moodFor(endpoint.lists.has(list))
    keep(endpoint, list, events, figures)
    figures.count(`pushes: ${mood}`)
    if (mood === 'answered 200') {
      response.once('finish', () => {
        for (const { id } of events) endpoint.taken.add(id)
      })
    }
    answer(response, mood)
  }

  /** A list that was pushed before mostly gets through: the third try is minutes away. */
  function moodFor(wasPushed: boolean): Mood {
    if (isCalm || (wasPushed && chance.happens(0.8))) return 'answered 200'
    let at = chance.between(0, 999) / 1000
    for (const [mood, share] of Object.entries(moods) as [keyof typeof moods, number][])
      if ((at -= share) < 0) return mood
    return 'answered 200'
  }

  return {
    urlOf: (account) => `http://127.0.0.1:${port}/${account}`,
    expect: (account, secret) => {
      const [pushed, contents, lists] = [
        new Map<string, PushedEvent>(),
        new Map<string, string>(),
        new Map<string, string>(),
      ]
      endpoints.set(`/${account}`, { account, signer: new Webhook(secret), pushed, taken: new Set(), contents, lists })
    },
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

function readEvents(
  { account, signer }: Endpoint,
  list: string,
  { headers }: IncomingMessage,
  body: string,
  figures: Figures,
): readonly PushedEvent[] {
  try {
    signer.verify(body, headers as Record<string, string>)
  } catch (error) {
    figures.broken('P-11', `list ${list} of account ${account}: ${String(error)}`)
  }
  return (JSON.parse(body) as { readonly data: { readonly events: readonly PushedEvent[] } }).data.events
}

/** A list repeats as it was, and an event in its list. */
function keep(endpoint: Endpoint, list: string, events: readonly PushedEvent[], figures: Figures): void {
  const { account, lists, contents, pushed } = endpoint
  const text = JSON.stringify(events)
  if ((lists.get(list) ?? text) !== text)
    figures.broken('P-11', `list ${list} of account ${account} was another before`)
  if (lists.has(list)) figures.count('pushes: repeated')
  lists.set(list, text)
  for (const event of events) {
    const content = `${list} ${JSON.stringify(event)}`
    const before = contents.get(event.id) ?? content
    if (before !== content) figures.broken('P-11', `event ${content} of account ${account} was ${before} before`)
    contents.set(event.id, content)
    pushed.set(event.id, event)
  }
}

function answer(response: ServerResponse, mood: Mood): void {
  if (mood === 'answered 200') response.end()
  else if (mood === 'answered 500') response.writeHead(500).end('not now')
  else if (mood === 'closed') response.destroy()
  else if (mood === 'closed in its answer') {
    response.writeHead(500, { 'content-length': '100' }).write('a part', () => response.destroy())
  }
}
