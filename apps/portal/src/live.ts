import type { ServerResponse } from 'node:http'

/** How many pages of each account are followed by this process. */
export type Followers = Map<string, number>

const followersMax = 20
const allFollowersMax = 500

/** Often while something happens, seldom when it does not; then a page that is still open asks anew. */
const pausesMs = { busy: 1000, calm: 5000 }
const calmAfter = 30
const openMs = 15 * 60_000

export interface Followed {
  readonly owner: string
  readonly first: Look | undefined
  readonly again: () => Promise<Look | undefined>
}

/** A page at a moment, and whether anything of it still changes by itself. */
export interface Look {
  readonly page: string
  readonly isLive: boolean
}

/**
 * Server-sent events (HTML standard, 9.2): the whole page at once, and each time that it has changed; the browser
 * replaces the parts that are marked. The last event is `end`, with `gone` where the page is not theirs any more. Where
 * too many are followed it is answered 204, which a browser accepts as the end.
 */
export function follow(followers: Followers, response: ServerResponse, { owner, first, again }: Followed): void {
  const own = followers.get(owner) ?? 0
  const all = [...followers.values()].reduce((sum, value) => sum + value, 0)
  if (first === undefined || own >= followersMax || all >= allFollowersMax) {
    response.writeHead(204).end()
    return
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' })
  const began = performance.now()
  let last = first.page
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
    timer = setTimeout(() => void look(), unchanged < calmAfter ? pausesMs.busy : pausesMs.calm).unref()
  }
  async function look(): Promise<void> {
    // The connection ends where a page could not be read: the browser connects anew, and is told what is wrong then.
    const look = await again().catch(() => 'failed' as const)
    if (response.destroyed) return
    if (look === 'failed' || performance.now() - began > openMs) {
      response.end()
      return
    }
    unchanged = look?.page === last ? unchanged + 1 : 0
    if (look !== undefined && unchanged === 0) write('page', look.page)
    last = look?.page ?? last
    if (look?.isLive === true) plan()
    else {
      write('end', look === undefined ? 'gone' : undefined)
      response.end()
    }
  }

  response.write('retry: 5000\n\n')
  // What has happened since the page was loaded.
  write('page', first.page)
  if (!first.isLive) {
    write('end')
    response.end()
    return
  }
  followers.set(owner, own + 1)
  response.on('close', () => {
    clearTimeout(timer)
    const left = (followers.get(owner) ?? 1) - 1
    if (left > 0) followers.set(owner, left)
    else followers.delete(owner)
  })
  plan()
}
