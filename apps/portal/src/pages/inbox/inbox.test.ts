import { anAccount, arrive, assign, write } from '@gateway/core/testing'
import { startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'

let portal: Portal
let visitor: Visitor
beforeEach(async () => {
  portal = await startPortal()
  visitor = await portal.signedIn()
})
afterEach(() => portal.close())

const [ann, ben] = ['27820000001', '27820000002']

/** Returns the rows of the list: person, latest text and number of unread messages. */
const rows = async (path: string): Promise<readonly string[]> =>
  (await visitor.get(path)).html
    .querySelectorAll('tbody tr')
    .map((row) => [1, 2, 3].map((column) => row.querySelector(`td:nth-child(${column})`)?.textContent).join(': '))

const lines = async (path: string): Promise<readonly string[]> =>
  (await visitor.get(path)).html.querySelectorAll('.conversation li .text').map(({ textContent }) => textContent)

test('an empty inbox explains what will be listed', async () => {
  expect((await visitor.get('/inbox')).text).toContain(
    'Replies to your messages and messages to your codes are listed here',
  )
  expect((await visitor.get('/inbox?show=unread')).text).toContain('Nothing is unread.')
})

test('each person is listed once with the latest text and the unread count, and the return-once calls still get the messages', async () => {
  for (const number of [ann, ben]) await write(portal.ports, portal.account, number)
  for (const text of ['one', 'two']) await arrive(portal.ports, ann, text)
  await arrive(portal.ports, ben, 'hello')
  expect(await rows('/inbox')).toEqual([`${ben}: hello: 1 message`, `${ann}: two: 2 messages`])
  expect((await portal.gateway.commands.takeReplies(portal.account, 'with-short-codes')).messages).toHaveLength(3)
  expect(await rows('/inbox?show=unread')).toHaveLength(2)
})

test('a long list continues after the last person shown', async () => {
  for (let i = 10; i < 37; i++) {
    await write(portal.ports, portal.account, `278200000${i}`)
    await arrive(portal.ports, `278200000${i}`, `from ${i}`)
  }
  const { html } = await visitor.get('/inbox')
  const older = html.querySelectorAll('.actions a').find(({ textContent }) => textContent === 'Older')
  expect(await rows(older?.getAttribute('href') ?? '')).toEqual([
    '27820000011: from 11: 1 message',
    '27820000010: from 10: 1 message',
  ])
})

test('a conversation shows sent and received messages, the latest last, with links to the sent messages', async () => {
  const [id = 0] = await write(portal.ports, portal.account, ann)
  portal.clock.step(60)
  await arrive(portal.ports, ann, 'Yes')
  portal.clock.step(60)
  await visitor.submit(`/inbox/${ann}`, { text: 'Thank you' }, 'form:has(textarea)')
  expect((await lines(`/inbox/${ann}`)).slice(1)).toEqual(['Yes', 'Thank you'])
  const { html } = await visitor.get(`/inbox/${ann}`)
  expect(html.querySelectorAll('.conversation a').map((link) => link.getAttribute('href'))).toContain(`/messages/${id}`)
})

test('answering marks the conversation as read, and sends once even if the form is submitted repeatedly', async () => {
  await write(portal.ports, portal.account, ann)
  await arrive(portal.ports, ann, 'Yes')
  const page = await visitor.get(`/inbox/${ann}`)
  for (let i = 0; i < 2; i++) {
    const answered = await visitor.submit(page, { text: 'Thank you' }, 'form:has(textarea)')
    expect(answered.to).toBe(`/inbox/${ann}`)
  }
  expect(await rows('/inbox')).toEqual([`${ann}: Yes: read`])
  expect((await portal.gateway.queries.listSent(portal.account, { limit: 9 })).messages).toHaveLength(2)
})

test('only the messages shown on the page are marked as read, not those that arrived meanwhile', async () => {
  await write(portal.ports, portal.account, ann)
  await arrive(portal.ports, ann, 'Yes')
  const page = await visitor.get(`/inbox/${ann}`)
  expect(page.text).toContain('Mark 1 message as read')
  await arrive(portal.ports, ann, 'No')
  await visitor.submit(page, {}, 'form.seen')
  expect(await rows('/inbox')).toEqual([`${ann}: No: 1 message`])
  await visitor.submit(`/inbox/${ann}`, {}, 'form.seen')
  expect((await visitor.get(`/inbox/${ann}`)).html.querySelector('form.seen')).toBeNull()
})

test.each([
  ['', 'Enter a text.'],
  ['x'.repeat(919), 'The text is too long'],
  ['Hello', 'Opted out'],
])('a refused answer keeps its text and shows the reason: %#', async (text, why) => {
  await write(portal.ports, portal.account, ann)
  await arrive(portal.ports, ann, why === 'Opted out' ? 'STOP' : 'Yes')
  const shown = await visitor.submit(`/inbox/${ann}`, { text }, 'form:has(textarea)')
  expect([shown.status, shown.text]).toEqual([422, expect.stringContaining(why)])
  expect(shown.html.querySelector('textarea')?.textContent).toBe(text)
  expect(await rows('/inbox?show=unread')).toHaveLength(1)
})

test('a long conversation continues on further pages, and shows each message once', async () => {
  await write(portal.ports, portal.account, ann)
  for (let i = 1; i <= 70; i++) {
    portal.clock.step(1)
    await arrive(portal.ports, ann, `answer ${i}`)
  }
  const latest = await visitor.get(`/inbox/${ann}`)
  const older = latest.html.querySelector('main > p a')?.getAttribute('href') ?? ''
  const all = [...(await lines(older)), ...(await lines(`/inbox/${ann}`))]
  expect(all.slice(1)).toEqual(Array.from({ length: 70 }, (_, i) => `answer ${i + 1}`))
  expect((await visitor.get(older)).html.querySelector('form:has(textarea)')).toBeNull()
})

test('a message to a short code names the code, and a sender that is not a number cannot be answered', async () => {
  await assign(portal.ports, portal.account, '45678')
  await arrive(portal.ports, ann, 'JOIN', '45678')
  await arrive(portal.ports, 'A/B shop', 'Hello', '45678')
  expect((await visitor.get(`/inbox/${ann}`)).text).toContain('to your code 45678')
  const link = (await visitor.get('/inbox')).html.querySelector('tbody a')?.getAttribute('href') ?? ''
  expect((await visitor.get(link)).text).toContain('This sender is not a number that you can write to.')
})

test('conversations of another account cannot be seen, answered or marked as read', async () => {
  const other = await anAccount(portal.ports)
  await write(portal.ports, other, ben)
  await arrive(portal.ports, ben, 'not yours')
  await write(portal.ports, portal.account, ann)
  await arrive(portal.ports, ann, 'Yes')
  expect(await rows('/inbox')).toHaveLength(1)
  const token = (await visitor.get('/inbox')).html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
  const fields = { token, step: 'answer', text: 'Hello', key: 'k', arrived: '1' }
  expect([(await visitor.get(`/inbox/${ben}`)).status, (await visitor.post(`/inbox/${ben}`, fields)).status]).toEqual([
    404, 404,
  ])
  expect((await portal.gateway.queries.listSent(portal.account, { limit: 9 })).messages).toHaveLength(1)
})
