import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { until, write } from '@gateway/core/testing'
import { admissionGate } from '@gateway/server'
import { follow, noFollowers } from './live.ts'
import { startPortal, type Portal, type Visitor } from '../testing/start-portal.ts'

let portal: Portal
let visitor: Visitor
beforeEach(async () => {
  portal = await startPortal()
  visitor = await portal.signedIn()
})
afterEach(() => portal.close())

/** Opens a page as a browser's event source does. */
async function open(path: string, cookie = visitor.cookie) {
  const headers = { Accept: 'text/event-stream', Cookie: cookie ?? '' }
  const answer = await fetch(`${portal.url}${path}`, { headers, redirect: 'manual' })
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let read = ''
  let retry = NaN
  /** Reads the stream up to the first match and consumes this part. Fails if the connection ends before a match. */
  async function next(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(read)
      if (found !== null) {
        read = read.slice(found.index + found[0].length)
        return found[1] ?? ''
      }
      const chunk = await reader?.read()
      if (chunk?.done !== false) throw new Error(`the connection ended before ${String(pattern)}: ${read}`)
      read += chunk.value
      retry = Number(/^retry: ([0-9]+)/.exec(read)?.[1] ?? retry)
    }
  }
  return {
    status: answer.status,
    /** Returns the data of the next event of this name. */
    event: (name: string) => next(new RegExp(`event: ${name}\n([^]*?)\n\n`)),
    comment: () => next(/^:\n\n/m),
    /** Returns the reconnection delay that the server sent, in milliseconds. */
    retry: () => retry,
    close: () => reader?.cancel(),
  }
}

test('an open page is sent at once, and again when a carrier has accepted a message', async () => {
  await portal.gateway.commands.sendMessages(portal.account, [{ text: 'Hello', recipients: ['27820000001'] }])
  const followed = await open('/messages/1')
  expect(followed.status).toBe(200)
  expect(await followed.event('page')).not.toContain('The carrier accepted it')
  await write(portal.ports, portal.account)
  expect(await followed.event('page')).toContain('The carrier accepted it as 1.')
  await followed.close()
})

test('a page that does not change is sent comments, so that proxies keep its connection open', async () => {
  const followed = await open('/')
  await followed.event('page')
  await followed.comment()
  await followed.comment()
  await followed.close()
})

test('a page that can no longer change is sent a last time with an end event', async () => {
  await portal.gateway.commands.sendMessages(portal.account, [
    { text: 'Hello', recipients: ['27820000001'], scheduled: (portal.clock.now() + 3_600_000) as never },
  ])
  const followed = await open('/messages/1')
  expect(await followed.event('page')).toContain('To be sent at this time.')
  expect(await followed.event('end')).toBe('data: ')
})

test('without a session the stream ends at once', async () => {
  expect((await open('/', 'portal=none')).status).toBe(204)
})

test('the stream of an open page ends with the session and does not extend the session', async () => {
  const followed = await open('/')
  await followed.event('page')
  const found = await portal.gateway.queries.listSessions(portal)
  portal.clock.step(120)
  await portal.gateway.commands.sendMessages(portal.account, [{ text: 'Hello', recipients: ['27820000001'] }])
  await followed.event('page')
  expect(await portal.gateway.queries.listSessions(portal)).toEqual(found)
  await portal.backOffice.commands.lockAccount(portal.account.id)
  expect(await followed.event('end')).toBe('data: gone')
})

test('above the limit of open pages of an account a page is sent once with a delay to reconnect, until an open page is closed', async () => {
  const all = await Promise.all(Array.from({ length: 100 }, () => open('/')))
  for (const { event } of all) await event('page')
  /** True if the page is streamed. A page that is only sent once has a longer delay to reconnect. */
  const isFollowed = async () => {
    const one = await open('/')
    expect(one.status).toBe(200)
    await one.event('page')
    await one.close()
    return one.retry() === 5000
  }
  expect(await isFollowed()).toBe(false)
  for (const { close } of all) await close()
  await until(isFollowed, 10_000)
})

test('an overloaded process responds so that an event source connects again', async () => {
  const gate = { ...admissionGate(100), enterSlow: () => Promise.resolve(undefined) }
  const busy = await startPortal({}, undefined, gate)
  const answer = await fetch(`${busy.url}/`, { headers: { Accept: 'text/event-stream' } })
  expect([answer.status, await answer.text()]).toEqual([200, 'retry: 10000\n\n'])
  expect((await fetch(`${busy.url}/`)).status).toBe(503)
  await busy.close()
})

test('an open page stays open while the process is too busy to render it, and is updated afterwards', async () => {
  const gate = admissionGate(100)
  let isFull = false
  let refused = 0
  const enterSlow: typeof gate.enterSlow = (...args) => {
    if (isFull) refused++
    return isFull ? Promise.resolve(undefined) : gate.enterSlow(...args)
  }
  await portal.close()
  portal = await startPortal({}, undefined, { ...gate, enterSlow })
  visitor = await portal.signedIn()
  const followed = await open('/')
  await followed.event('page')
  isFull = true
  await portal.gateway.commands.sendMessages(portal.account, [{ text: 'Hello', recipients: ['27820000001'] }])
  await until(() => refused > 0)
  isFull = false
  expect(await followed.event('page')).toContain('Hello')
  await followed.close()
})

test('a connection that closes during the first rendering is not counted', () => {
  const followers = noFollowers()
  const gone = new ServerResponse(new IncomingMessage(new Socket()))
  gone.destroy()
  follow(followers, gone, { owner: '1', first: { page: '', isLive: true }, again: () => Promise.resolve(undefined) })
  expect(followers).toEqual(noFollowers())
})
