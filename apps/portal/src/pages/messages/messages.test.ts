import { credits } from '@gateway/core/credits'
import { OUTCOME } from '@gateway/core/messages'
import { aMessageId, write } from '@gateway/core/testing'
import { secondsAfter } from '@gateway/core/time'
import { startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'

let portal: Portal
let visitor: Visitor
beforeEach(async () => {
  portal = await startPortal()
  visitor = await portal.signedIn()
})
afterEach(() => portal.close())

const numbersShown = async (path: string): Promise<readonly string[]> =>
  (await visitor.get(path)).html.querySelectorAll('tbody a').map((link) => link.textContent)

test('an empty list explains what will be listed and how to send a message', async () => {
  const { text, html } = await visitor.get('/messages')
  expect(text).toContain('Messages that you send are listed here. Send a message')
  expect(html.querySelector('main a[href="/send"]')).not.toBeNull()
})

test('the list has the latest message first and continues where the previous page ended', async () => {
  const recipients = Array.from({ length: 30 }, (_, i) => String(27820000100 + i))
  await portal.gateway.commands.sendMessages(portal.account, [{ text: 'Hello', recipients }])
  const first = await visitor.get('/messages')
  const older = first.html.querySelectorAll('.actions a').find((link) => link.textContent === 'Older')
  expect(older?.getAttribute('href')).toBe('/messages?after=6')
  const listed = [...(await numbersShown('/messages')), ...(await numbersShown('/messages?after=6'))]
  expect(listed).toEqual(recipients.toReversed())
  const last = await visitor.get('/messages?after=6')
  expect(last.html.querySelectorAll('.actions a').map((link) => link.textContent)).toEqual([
    'Latest',
    'Download as CSV',
  ])
})

test.each([
  [600, true],
  [3600, false],
])('the page of a message that is due in %i s is followed: %s', async (seconds, isFollowed) => {
  const scheduled = secondsAfter(portal.clock.now(), seconds)
  await portal.gateway.commands.sendMessages(portal.account, [
    { text: 'Hello', recipients: ['27820000001'], scheduled },
  ])
  const { html } = await visitor.get('/messages/1')
  expect(html.querySelector('body')?.hasAttribute('data-follow')).toBe(isFollowed)
})

test('messages are filtered by days and state, and downloaded as a file without formulas', async () => {
  await portal.gateway.commands.sendMessages(portal.account, [
    { text: '=1+1', recipients: ['27820000001', '27820000002'] },
  ])
  await write(portal.ports, portal.account)
  const day = (await portal.gateway.queries.listSent(portal.account, { limit: 1 })).messages[0]?.accepted ?? 0
  const today = new Date(day + 2 * 3_600_000).toISOString().slice(0, 10)
  const all = await numbersShown(`/messages?from=${today}&to=${today}`)
  expect(all.length).toBeGreaterThanOrEqual(2)
  const waiting = await numbersShown('/messages?state=waiting')
  const others = await numbersShown('/messages?state=on-its-way')
  expect([...waiting, ...others].sort()).toEqual([...all].sort())
  expect(await numbersShown('/messages?to=2001-01-01')).toEqual([])
  const file = await visitor.get('/messages/download')
  expect(file.html.textContent.split('\r\n')).toHaveLength(all.length + 2)
  expect(file.html.textContent).toContain(",'=1+1\r\n")
  // Times are in GMT+2, as on pages. Sender and state are protected against spreadsheet formulas, as texts are.
  expect(file.html.textContent).toContain('Id,Accepted (GMT+2),Scheduled (GMT+2),Number,From,State')
  expect(file.html.textContent).toMatch(/\r\n1,2026-10-18 10:00:00,,27820000001,12025550100,/)
  expect(file.html.textContent).toContain('Parts,Charged,Returned,Net,Reference,Text\r\n')
})

test('the search field finds a number as people write it, an id and a reference', async () => {
  const recipients = [
    { number: '27820000001', reference: 'A-1044' as never },
    { number: '27820000002' },
    { number: '27820000002' },
  ]
  await portal.gateway.commands.sendMessages(portal.account, [{ text: 'Hello', recipients }])
  expect((await visitor.get('/messages?q=A-1044')).to).toBe('/messages/1')
  expect((await visitor.get('/messages?q=3')).to).toBe('/messages/3')
  expect(await numbersShown(`/messages?q=${encodeURIComponent('+27 82 000 0002')}`)).toEqual([
    '27820000002',
    '27820000002',
  ])
  expect((await visitor.get('/messages?q=nothing')).text).toContain('has “nothing” as its number, id or reference')
})

test('the history of a message shows its cost, the id at the carrier and the final state', async () => {
  const [id = aMessageId(1)] = await write(portal.ports, portal.account, '27820000001')
  const page = await visitor.get(`/messages/${id}`)
  expect(page.text).toContain('Accepted: 1 part, 1.0 credits charged')
  expect(page.text).toContain(`The carrier accepted it as ${id}.`)
  expect(page.html.querySelector('h1 .state')?.textContent).toBe('on its way')
  const place = (await portal.ports.sentMessages.trace(id))?.place
  if (place?.place !== 'decided' || place.carrier === undefined) throw new Error('not taken')
  const receipt = { carrier: place.carrier, reference: String(id), number: undefined, submitted: undefined }
  await portal.ports.deliveryReceipts.apply([{ ...receipt, code: OUTCOME.undeliverable }])
  const failed = await visitor.get(`/messages/${id}`)
  expect(failed.text).toContain('Not delivered. The carrier could not deliver it. SENDINGFAILED 103')
})

test('the overview shows the balance, the figures of today, the latest messages and what needs attention', async () => {
  await write(portal.ports, portal.account, '27820000001', '27820000002')
  const { text, html } = await visitor.get('/')
  expect(text).toContain('Delivered0On their way2Failed0Unknown0Scheduled0')
  expect(html.querySelector('#balance')?.textContent.trim()).toBe('98.0 credits')
  expect(html.querySelectorAll('#latest tbody tr').length).toBe(2)
  expect(text).not.toContain('credits left')
  await portal.ports.ledger.topUp(portal.account.id, credits(-900), 'taken', portal.clock.now())
  expect((await visitor.get('/')).text).toContain('You have 8.0 credits left.')
})
