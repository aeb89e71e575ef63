import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'

/** Pages that this process is currently streaming. */
export interface Followers {
  /** Number of open pages of each account or operator. */
  readonly byOwner: Map<string, number>
  all: number
  /** Moving average of the time to render a page, in milliseconds. */
  lookMs: number
}

export const noFollowers = (): Followers => ({ byOwner: new Map(), all: 0, lookMs: 0 })

const followersMax = 100
const allFollowersMax = 1000

/** Pauses between two renderings: `busy` while the page keeps changing, `calm` after it stopped changing. */
const pausesMs = { busy: 1000, calm: 5000 }
const calmAfter = 30
/** Seconds for which a page is followed over one connection. */
export const followedSeconds = 15 * 60
/** Share of the time that rendering all open pages may take. With many open pages, each is rendered less often. */
const timeShare = 0.1
/** Time until the browser connects again: `full` if too many pages are open, `busy` if the process is overloaded. */
const retryMs = { full: 30_000, busy: 10_000 }

export interface Followed {
  readonly owner: string
  readonly first: Look | undefined
  /**
   * Renders the page again. Returns 'busy' if the process is overloaded, undefined if the reader may no longer see the
   * page.
   */
  readonly again: () => Promise<Look | 'busy' | undefined>
}

/** Rendered page, and whether it can still change without the reader doing anything. */
export interface Look {
  readonly page: string
  readonly isLive: boolean
}

const eventStream = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }

/**
 * Makes the browser connect again later. It responds with 200, because an event source gives up after an HTTP error.
 */
export function askAgainLater(response: ServerResponse): void {
  response.writeHead(200, eventStream).end(`retry: ${retryMs.busy}\n\n`)
}

/** Returns a digest by which pages are compared. Keeping the pages themselves would take 30 kB each. */
const digestOf = ({ page }: Look): string => createHash('sha1').update(page).digest('base64')

/**
 * Streams a page as server-sent events (HTML standard, 9.2): the whole page immediately, and again whenever it has
 * changed. The browser replaces the elements that are marked. If nothing has changed, a comment is sent. The last event
 * is `end`, with `gone` as its data if the reader may no longer see the page. If too many pages are open, the page is
 * sent once and the browser connects again after a while.
 */
export function follow(followers: Followers, response: ServerResponse, { owner, first, again }: Followed): void {
  // A connection that has already closed emits no further 'close' event.
  if (response.destroyed) return
  if (first === undefined) {
    response.writeHead(204).end()
    return
  }
  const { byOwner } = followers
  const own = byOwner.get(owner) ?? 0
  const isFull = own >= followersMax || followers.all >= allFollowersMax
  response.writeHead(200, eventStream)
  const began = performance.now()
  let last = digestOf(first)
  let unchanged = 0
  let timer: NodeJS.Timeout | undefined

  const write = (event: string, data = ''): void => {
    response.write(
      `event: ${event}\n${data
        .split('\n')
        .map((line) => `data: ${line}\n`)
        .join('')}\n`,
    )
  }
  const plan = (): void => {
    const pause = unchanged < calmAfter ? pausesMs.busy : pausesMs.calm
    timer = setTimeout(() => void look(), Math.max(pause, (followers.all * followers.lookMs) / timeShare)).unref()
  }
  async function look(): Promise<void> {
    const lookedAt = performance.now()
    // If rendering fails, the connection is closed. The browser connects again and gets the error then.
    const look = await again().catch(() => 'failed' as const)
    followers.lookMs += (performance.now() - lookedAt - followers.lookMs) / 8
    if (response.destroyed) return
    if (look === 'failed' || performance.now() - began > followedSeconds * 1000) {
      response.end()
      return
    }
    if (look === 'busy') {
      plan()
      return
    }
    const digest = look && digestOf(look)
    unchanged = digest === last ? unchanged + 1 : 0
    if (look !== undefined && unchanged === 0) write('page', look.page)
    // Proxies close connections that are silent for long (HTML standard, 9.2.7).
    else response.write(':\n\n')
    last = digest ?? last
    if (look?.isLive === true) plan()
    else {
      write('end', look === undefined ? 'gone' : undefined)
      response.end()
    }
  }

  response.write(`retry: ${isFull ? retryMs.full : pausesMs.calm}\n\n`)
  // Send the changes since the page was loaded.
  write('page', first.page)
  if (!first.isLive) {
    write('end')
    response.end()
    return
  }
  if (isFull) {
    response.end()
    return
  }
  byOwner.set(owner, own + 1)
  followers.all += 1
  response.on('close', () => {
    clearTimeout(timer)
    followers.all -= 1
    const remaining = (byOwner.get(owner) ?? 1) - 1
    if (remaining > 0) byOwner.set(owner, remaining)
    else byOwner.delete(owner)
  })
  plan()
}
