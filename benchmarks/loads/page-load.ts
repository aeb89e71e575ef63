import { get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { latenciesOf, type Latencies } from './latencies.ts'

export interface PageLoad {
  readonly url: string
  readonly cookie: string
  readonly paths: readonly string[]
  /** Number of requests to each path. */
  readonly requests: number
}

/** Requests pages one at a time, as a person does. Returns the milliseconds until each page is complete. */
export async function runPageLoad({ url, cookie, paths, requests }: PageLoad) {
  const pages: { path: string; latencies: Latencies; failed: number }[] = []
  for (const path of paths) {
    const times: number[] = []
    let failed = 0
    for (let i = 0; i < requests; i++) {
      const begun = performance.now()
      const answer = await fetch(url + path, { headers: { cookie }, redirect: 'manual' })
      await answer.text()
      times.push(performance.now() - begun)
      if (answer.status !== 200) failed++
    }
    pages.push({ path, latencies: latenciesOf(times), failed })
  }
  return { pages }
}

/** Loads a page with all its assets, as a browser with an empty cache does. */
export async function runFirstPage({ url, cookie }: Pick<PageLoad, 'url' | 'cookie'>) {
  const begun = performance.now()
  const html = await (await fetch(url, { headers: { cookie } })).text()
  const loaded = Array.from(html.matchAll(/<(?:link|script)[^>]+(?:href|src)="(\/[^"]+)"/g), ([, path = '']) => path)
  const islands = Array.from(html.matchAll(/data-island="(\w+)"/g), ([, name = '']) => `/assets/${name}.js`)
  const files = await Promise.all(
    [...new Set([...loaded, ...islands])].map(async (path) =>
      Buffer.from(await (await fetch(url + path)).arrayBuffer()),
    ),
  )
  const milliseconds = performance.now() - begun
  const bytes = [Buffer.from(html), ...files].reduce((sum, body) => sum + gzipSync(body).length, 0)
  return { milliseconds, bytes }
}

export interface OpenPages {
  readonly url: string
  /** Cookies, one for each browser. */
  readonly cookies: readonly string[]
  readonly path: string
  readonly seconds: number
}

/** Keeps pages open as browsers do: each has an event source, which connects again when its connection ends. */
export async function runOpenPages({ url, cookies, path, seconds }: OpenPages) {
  const seen = { events: 0, connections: 0, given: 0 }
  const open = new Set<IncomingMessage>()
  const end = performance.now() + seconds * 1000

  function connect(cookie: string): void {
    if (performance.now() > end) return
    seen.connections++
    const request = get(url + path, { headers: { cookie, accept: 'text/event-stream' }, agent: false }, (answer) => {
      if (answer.statusCode !== 200) {
        // An event source does not reconnect after an answer with another status than 200.
        seen.given++
        answer.resume()
        return
      }
      open.add(answer)
      let retry = 3000
      answer.setEncoding('utf8').on('data', (text: string) => {
        retry = Number(/^retry: ([0-9]+)/m.exec(text)?.[1] ?? retry)
        seen.events += text.split('event: page').length - 1
      })
      answer.on('close', () => {
        open.delete(answer)
        setTimeout(() => connect(cookie), retry).unref()
      })
    })
    request.on('error', () => setTimeout(() => connect(cookie), 3000).unref())
  }
  for (const cookie of cookies) connect(cookie)
  await delay(seconds * 1000)
  const openAtEnd = open.size
  for (const answer of open) answer.destroy()
  return { ...seen, open: openAtEnd }
}
