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

/** Opens a page as an event source does. */
async function open(path: string, cookie = visitor.cookie) {
  const headers = { Accept: 'text/event-stream', Cookie: cookie ?? '' }
  const answer = await fetch(`${portal.url}${path}`, { headers, redirect: 'manual' })
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let read = ''
  let retry = NaN
  /** Reads until this has come, and takes it away, or fails where the connection ends before. */
  async function next(what: RegExp): Promise<string> {
    for (;;) {
      const found = what.exec(read)
      if (found !== null) {
        read = read.slice(found.index + found[0].length)
        return found[1] ?? ''
      }
      const chunk = await reader?.read()
      if (chunk?.done !== false) throw new Error(`the connection ended before ${String(what)}: ${read}`)
      read += chunk.value
      retry = Number(/^retry: ([0-9]+)/.exec(read)?.[1] ?? retry)
    }
  }
  return {
    status: answer.status,
    /** The data of the next event of this name. */
    event: (name: string) => next(new RegExp(`event: ${name}\n([^]*?)\n\n`)),
    comment: () => next(/^:\n\n/m),
    /** What the browser was told to wait before it comes again. */
    retry: () => retry,
    close: () => reader?.cancel(),
  }
}

test('a page that is followed is sent at once, and again when a message was taken', async () => {
  await portal.gateway.sendMessages(portal.account, [{ text: 'Hello', recipients: ['27820000001'] }])
  const followed = await open('/messages/1')
  expect(followed.status).toBe(200)
  expect(await followed.event('page')).not.toContain('The carrier took it')
  await write(portal.ports, portal.account)
  expect(await followed.event('page')).toContain('The carrier took it as 1.')
  await followed.close()
})

test('a page where nothing happens is sent comments, so that no proxy ends it', async () => {
  const followed = await open('/')
  await followed.event('page')
  await followed.comment()
  await followed.comment()
  await followed.close()
})

test('where nothing changes any more it is told what has become of it, and that it is over', async () => {
  await portal.gateway.sendMessages(portal.account, [
    { text: 'Hello', recipients: ['27820000001'], scheduled: (portal.clock.now() + 3_600_000) as never },
  ])
  const followed = await open('/messages/1')
  expect(await followed.event('page')).toContain('To be sent at this time.')
  expect(await followed.event('end')).toBe('data: ')
})

test('where nobody is signed in it is answered that it is over', async () => {
  expect((await open('/', 'portal=none')).status).toBe(204)
})

test('a page that is followed ends with the session, and does not keep it open', async () => {
  const followed = await open('/')
  await followed.event('page')
  const found = await portal.gateway.listSessions(portal)
  portal.clock.step(120)
  await portal.gateway.sendMessages(portal.account, [{ text: 'Hello', recipients: ['27820000001'] }])
  await followed.event('page')
  expect(await portal.gateway.listSessions(portal)).toEqual(found)
  await portal.backOffice.lockAccount(portal.account.id)
  expect(await followed.event('end')).toBe('data: gone')
})

test('beyond so many pages of an account one is sent as it is, and the browser comes again; a closed one gives its place back', async () => {
  const all = await Promise.all(Array.from({ length: 100 }, () => open('/')))
  for (const { event } of all) await event('page')
  /** Whether a page is followed, and not only sent: the browser comes again after a longer time then. */
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

test('an event source that finds no room is told to ask again, as after any other answer it would not', async () => {
  const gate = { ...admissionGate(100), enterSlow: () => Promise.resolve(undefined) }
  const busy = await startPortal({}, undefined, gate)
  const answer = await fetch(`${busy.url}/`, { headers: { Accept: 'text/event-stream' } })
  expect([answer.status, await answer.text()]).toEqual([200, 'retry: 10000\n\n'])
  expect((await fetch(`${busy.url}/`)).status).toBe(503)
  await busy.close()
})

test('a page that is followed stays open while there is no room to look again, and follows when there is', async () => {
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
  await portal.gateway.sendMessages(portal.account, [{ text: 'Hello', recipients: ['27820000001'] }])
  await until(() => refused > 0)
  isFull = false
  expect(await followed.event('page')).toContain('Hello')
  await followed.close()
})

test('who goes while the first look is taken is not counted', () => {
  const followers = noFollowers()
  const gone = new ServerResponse(new IncomingMessage(new Socket()))
  gone.destroy()
  follow(followers, gone, { owner: '1', first: { page: '', isLive: true }, again: () => Promise.resolve(undefined) })
  expect(followers).toEqual(noFollowers())
})
