import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'

/** The pages that this process follows. */
export interface Followers {
  /** How many of each account. */
  readonly byOwner: Map<string, number>
  all: number
  /** How long a look took lately, on average. */
  lookMs: number
}

export const noFollowers = (): Followers => ({ byOwner: new Map(), all: 0, lookMs: 0 })

const followersMax = 100
const allFollowersMax = 1000

/** Often while something happens, seldom when it does not; then a page that is still open asks anew. */
const pausesMs = { busy: 1000, calm: 5000 }
const calmAfter = 30
/** Seconds for which a page is followed over one connection. */
export const followedSeconds = 15 * 60
/** Looks of all pages together take a tenth of the time at the most: with many open pages each is looked at less. */
const timeShare = 0.1
/** Where too many pages are followed, and where the process is too busy, the browser asks again after so long. */
const retryMs = { full: 30_000, busy: 10_000 }

export interface Followed {
  readonly owner: string
  readonly first: Look | undefined
  /** 'busy': the process has no room for it now. */
  readonly again: () => Promise<Look | 'busy' | undefined>
}

/** A page at a moment, and whether anything of it still changes by itself. */
export interface Look {
  readonly page: string
  readonly isLive: boolean
}

const eventStream = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }

/** Any other answer would be the last: an event source does not ask again after an error of HTTP. */
export function askAgainLater(response: ServerResponse): void {
  response.writeHead(200, eventStream).end(`retry: ${retryMs.busy}\n\n`)
}

/** Equal pages have equal digests: the pages themselves would take 30 kB each. */
const digestOf = ({ page }: Look): string => createHash('sha1').update(page).digest('base64')

/**
 * Server-sent events (HTML standard, 9.2): the whole page at once, and each time that it has changed; the browser
 * replaces the parts that are marked. Where nothing has changed a comment is sent. The last event is `end`, with `gone`
 * where the page is not theirs any more. Where too many are followed the page is sent, and the browser comes again
 * after a while.
 */
export function follow(followers: Followers, response: ServerResponse, { owner, first, again }: Followed): void {
  // Who has gone meanwhile tells of no end any more.
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
    // The connection ends where a page could not be read: the browser connects anew, and is told what is wrong then.
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
    // A proxy ends what is silent for long (HTML standard, 9.2.7).
    else response.write(':\n\n')
    last = digest ?? last
    if (look?.isLive === true) plan()
    else {
      write('end', look === undefined ? 'gone' : undefined)
      response.end()
    }
  }

  response.write(`retry: ${isFull ? retryMs.full : pausesMs.calm}\n\n`)
  // What has happened since the page was loaded.
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
    const left = (byOwner.get(owner) ?? 1) - 1
    if (left > 0) byOwner.set(owner, left)
    else byOwner.delete(owner)
  })
  plan()
}
