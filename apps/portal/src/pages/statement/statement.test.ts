import { credits } from '@gateway/core/credits'
import { startPortal } from '../../../testing/start-portal.ts'

/** Starts a portal whose clock stands at the current time, at which the account was opened. */
async function atThisTime() {
  const portal = await startPortal({ credits: 10_000 })
  portal.clock.step((Date.now() - portal.clock.now()) / 1000)
  const visitor = await portal.signedIn()
  const { to = '' } = await visitor.get('/statement')
  return { portal, visitor, to }
}

test('a month lists every movement with the balance after it, and links to the previous and next month', async () => {
  const { portal, visitor, to } = await atThisTime()
  await portal.gateway.commands.sendMessages(portal.account, [
    { text: 'Hello', recipients: ['27820000001', '27820000002'] },
  ])
  await portal.ports.ledger.topUp(portal.account.id, credits(250), '<b>invoice</b> 7', portal.clock.now())
  expect(to).toMatch(/^\/statement\/[0-9]{4}-[0-9]{2}$/)
  const { text, html } = await visitor.get(to)
  expect(text).toContain('Charged: 2 messages, from message 1 on−2.0998.0')
  expect(text).toContain('Added: <b>invoice</b> 725.01 023.0')
  expect(text).toContain('At the end1 023.0')
  expect(html.querySelector('td b')).toBeNull()
  const [file, before] = html.querySelectorAll('.actions a').map((link) => link.getAttribute('href') ?? '')
  expect((await visitor.get(before ?? '')).text).toContain('No credits were moved in')
  const downloaded = (await visitor.get(file ?? '')).html.textContent
  expect(downloaded).toContain('When (GMT+2),What,Messages,Send,First message,State,Other account,Reference,Why,')
  expect(downloaded).toMatch(
    /\r\n[0-9-]{10} [0-9:]{8},Charged,2,,1,,,,,-2\.0,998\.0,\r\n.*,Added,.*,.*invoice.* 7,25\.0,1023\.0,\r\n/,
  )
  for (const month of ['2026-13', 'x', '9999-12']) expect((await visitor.get(`/statement/${month}`)).status).toBe(404)
  await portal.close()
})

test('a personalised send is one line, its refunds are another, and top-ups are separate', async () => {
  const { portal, visitor, to } = await atThisTime()
  const rows = Array.from({ length: 40 }, (_, i) => `Person ${i},${27820000100 + i}`)
  const file = ['Name,Mobile', ...rows].join('\n')
  const time = '2099-01-01T10:00'
  const { to: draft = '' } = await visitor.upload('/send', { text: 'Dear {name}', time }, file)
  await visitor.submit(draft)
  await visitor.submit(`${draft}/sent`)
  const { text, html } = await visitor.get(to)
  expect(html.querySelectorAll('tbody tr')).toHaveLength(3)
  expect(text).toContain('Charged: 40 messages of send 1−40.0960.0')
  expect(text).toContain('Returned: cancelled, of send 140.01 000.0')
  expect(text).toContain('Added1 000.0Charged40.0Returned40.0Net0.0At the end1 000.0')
  expect((await visitor.get(`${to}/download`)).html.textContent.split('\r\n')).toHaveLength(5)
  await portal.close()
})

test('a long statement has as many pages as it needs, and its sums are those of the whole month', async () => {
  const { portal, visitor, to } = await atThisTime()
  for (let i = 0; i < 250; i++)
    await portal.ports.ledger.topUp(portal.account.id, credits(10), `invoice ${i}`, portal.clock.now())
  const first = await visitor.get(to)
  expect(first.text).toContain('Movements 1 to 100 of 251')
  expect(first.text).toContain('Added1 250.0')
  const [later] = first.html.querySelectorAll('nav[aria-label^="Pages"] a')
  const second = await visitor.get(later?.getAttribute('href') ?? '')
  expect(second.text).toContain('Movements 101 to 200 of 251')
  expect(second.text).toContain('Added1 250.0')
  const last = await visitor.get(`${to}?page=3`)
  expect(last.html.querySelectorAll('tbody tr')).toHaveLength(51)
  expect(last.text).toContain('Added: invoice 2491.01 250.0')
  expect((await visitor.get(`${to}?page=9`)).to).toBe(`${to}?page=3`)
  await portal.close()
})
