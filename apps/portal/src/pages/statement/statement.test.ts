import { credits } from '@gateway/core/credits'
import { startPortal } from '../../../testing/start-portal.ts'

test('a month has every movement with the balance after it, and leads to the months beside it', async () => {
  const portal = await startPortal()
  const visitor = await portal.signedIn()
  // The account was opened at the time of this machine.
  portal.clock.step((Date.now() - portal.clock.now()) / 1000)
  await portal.signedIn()
  await portal.gateway.sendMessages(portal.account, [{ text: 'Hello', recipients: ['27820000001', '27820000002'] }])
  await portal.ports.ledger.topUp(portal.account.id, credits(250), '<b>invoice</b> 7', portal.clock.now())
  const again = await portal.signedIn()
  const { to = '' } = await again.get('/statement')
  expect(to).toMatch(/^\/statement\/[0-9]{4}-[0-9]{2}$/)
  const { text, html } = await again.get(to)
  expect(text).toContain('2 messages, from message 1 on−2.098.0')
  expect(text).toContain('Credits added: <b>invoice</b> 725.0123.0')
  expect(text).toContain('At the end123.0')
  expect(html.querySelector('td b')).toBeNull()
  const [file, before] = html.querySelectorAll('.actions a').map((link) => link.getAttribute('href') ?? '')
  expect((await again.get(before ?? '')).text).toContain('No credits were moved in')
  const downloaded = (await again.get(file ?? '')).html.textContent
  expect(downloaded).toMatch(/,send,2,1,,,-2\.0,98\.0\r\n.*,top-up,.*invoice.*,25\.0,123\.0\r\n/)
  for (const month of ['2026-13', 'x', '9999-12']) expect((await again.get(`/statement/${month}`)).status).toBe(404)
  expect((await visitor.get('/')).status).toBe(303)
  await portal.close()
})
