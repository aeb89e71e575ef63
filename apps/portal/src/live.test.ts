import { write } from '@gateway/core/testing'
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
  return {
    status: answer.status,
    /** Reads until an event of this name has come whole, or fails where the connection ends before. */
    event: async (name: string): Promise<string> => {
      for (;;) {
        const found = new RegExp(`event: ${name}\n([^]*?)\n\n`).exec(read)
        if (found !== null) {
          read = read.slice(found.index + found[0].length)
          return found[1] ?? ''
        }
        const chunk = await reader?.read()
        if (chunk?.done !== false) throw new Error(`the connection ended before ${name}: ${read}`)
        read += chunk.value
      }
    },
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

test('so many pages of an account are followed at a time, and a closed one gives its place back', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => open('/')))
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
  expect((await open('/')).status).toBe(204)
  for (const { close } of all) await close()
  let status = 204
  for (const deadline = Date.now() + 10_000; status === 204 && Date.now() < deadline;) {
    const again = await open('/')
    status = again.status
    await again.close()
  }
  expect(status).toBe(200)
})
