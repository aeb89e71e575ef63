import { aNumber } from '@gateway/core/testing'
import { aHolder, startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'
import { readRecipients } from '../../recipients.ts'

let portal: Portal
let visitor: Visitor
const optedOut = '27820000009'

beforeEach(async () => {
  portal = await startPortal({ credits: 35 })
  visitor = await portal.signedIn()
  const since = portal.clock.now()
  await portal.ports.suppressions.add({ scope: portal.account.id, number: aNumber(optedOut), kind: 'opt-out', since })
})
afterEach(() => portal.close())

/** Enters a send and returns its check page. */
const checked = async (fields: Readonly<Record<string, string>>) =>
  visitor.get((await visitor.submit('/send', fields)).to ?? '')
const balance = () => portal.gateway.queries.creditBalance(portal.account.id)

test('the check shows what will be sent and each refused number with its reason, and charges nothing', async () => {
  const numbers = `27820000001\n+27 82 000 0002\n27820000003, 27820000004\n27820000001\n${optedOut}\n0825`
  const check = await checked({ text: 'Hello', numbers })
  expect(check.status).toBe(200)
  expect(check.text).toContain('Nothing has been sent or charged yet.')
  expect(check.text).toContain('Messages3Parts each1Price3.0Left afterwards0.5')
  expect(check.text).toContain('All of them would cost 4.0 credits, and you have 3.5: 3 messages can be sent.')
  expect(check.text).toContain('4 numbers will not be sent to')
  for (const row of [
    `Opted out1row 6: “${optedOut}”`,
    'Begins with 0: the country code is missing1row 7: “0825”',
    'Not enough credits1row 4: “27820000004”',
    'The number is in the list already1row 5: “27820000001”',
  ])
    expect(check.text).toContain(row)
  expect(await balance()).toBe(35)
})

test('a summary is shown while typing, and nothing is sent, stored or charged', async () => {
  const { token } = Object.fromEntries(
    (await visitor.get('/send')).html
      .querySelectorAll('main form input')
      .map((one) => [one.getAttribute('name') ?? '', one.getAttribute('value') ?? '']),
  )
  const quote = async (text: string, numbers: string, time = '') =>
    (await visitor.post('/send', { step: 'quote', text, numbers, time, token: token ?? '' })).html
      .querySelector('#quote')
      ?.textContent.trim()
  expect(await quote('Hello', `27820000001\n+27 82 000 0002\n${optedOut}\n0825`)).toBe(
    `2 messages, 1 part each: 2.0 credits. 1.5 left afterwards.Begins with 0: the country code is missing: 0825Opted out: ${optedOut}`,
  )
  expect(await quote('Hello', Array.from({ length: 7 }, (_, i) => `082${i}`).join())).toContain(
    'Begins with 0: the country code is missing: 0820, 0821, 0822, 0823, 0824 and 2 more',
  )
  expect(await quote('Hello', Array.from({ length: 1001 }, (_, i) => 27820000100 + i).join())).toContain(
    'the cost of more than 1\u202f000 numbers',
  )
  expect(await quote(' ', '27820000001')).toBe('Enter a text.')
  expect(await quote('Hello', '27820000001', 'tomorrow')).toContain('Enter a time')
  expect([await balance(), (await portal.gateway.queries.listBulkSends(portal.account, { limit: 10 })).length]).toEqual(
    [35, 0],
  )
  expect((await visitor.post('/send', { step: 'quote', text: 'Hello', numbers: '27820000001' })).status).toBe(403)
})

test('the refused numbers can be downloaded, each with its reason', async () => {
  await checked({ text: 'Hello', numbers: `27820000001\n${optedOut}\n=1+1` })
  const file = await visitor.get('/send/1/refused')
  expect(file.headers['content-disposition']).toBe('attachment; filename="not-sent-1.csv"')
  expect(file.html.textContent).toBe(
    `\ufeffRow,Number,Reason\r\n2,${optedOut},Opted out\r\n3,'=1+1,It is not certain which number is meant\r\n`,
  )
})

test('a checked send is sent once, even if the form is submitted repeatedly', async () => {
  const check = await checked({ text: 'Hello', numbers: `27820000001\n${optedOut}` })
  const [first, second] = await Promise.all([visitor.submit(check), visitor.submit(check)])
  expect([first.to, second.to]).toEqual(['/send/1/sent', '/send/1/sent'])
  expect((await visitor.submit(check)).to).toBe(first.to)
  expect(await balance()).toBe(25)
  const sent = await visitor.get(first.to ?? '')
  expect(sent.text).toContain('1 message accepted')
  expect(sent.text).toContain('1 number got no message and cost nothing')
  expect(sent.text).toContain('Charged1.0Returned0.0Net1.0')
  expect(sent.html.querySelector('#outcomes svg.bar')?.getAttribute('aria-label')).toBe('1 waiting')
  expect(sent.html.querySelector('#messages a')?.getAttribute('href')).toBe('/messages/1')
})

test('a step back, a reload and a second tab lead to the page of the sent messages, and never send again', async () => {
  const { to = '' } = await visitor.submit('/send', { text: 'Hello', numbers: '27820000001' })
  const [tab, otherTab] = [await visitor.get(to), await visitor.get(to)]
  await visitor.submit(tab)
  expect((await visitor.get(to)).to).toBe('/send/1/sent')
  expect((await visitor.get(`${to}/text`)).to).toBe('/send/1/sent')
  expect((await visitor.submit(otherTab)).to).toBe('/send/1/sent')
  expect(await balance()).toBe(25)
  expect((await portal.gateway.queries.listSent(portal.account, { limit: 9 })).messages).toHaveLength(1)
})

test('a send whose process ended between start and acceptance continues in the background, once', async () => {
  const check = await checked({ text: 'Hello', numbers: '27820000001' })
  // Start the send but do not continue it, as if the portal had been killed at this point.
  await portal.gateway.commands.startBulkSend(portal.account, 1 as never, 0)
  expect((await visitor.submit(check)).to).toBe('/send/1/sent')
  expect((await visitor.get('/send/1/sent')).text).toContain('1 number remaining')
  while ((await portal.gateway.commands.sendNextCall()) === 'more');
  expect((await visitor.get('/send/1/sent')).text).toContain('1 message accepted')
  expect(await balance()).toBe(25)
})

test('editing a checked send starts with the entered text and numbers, including an empty first line', async () => {
  const check = await checked({ text: '\nHello\nthere', numbers: '27820000001\n27820000002', time: '2026-10-19T09:30' })
  const link = check.html.querySelectorAll('a').find((one) => one.textContent === 'Change it')
  const back = await visitor.get(link?.getAttribute('href') ?? '')
  expect(back.html.querySelector('#field-text')?.textContent).toBe('\n\nHello\nthere')
  expect(back.html.querySelector('#field-numbers')?.textContent).toBe('27820000001\n27820000002')
  expect(back.html.querySelector('#field-time')?.getAttribute('value')).toBe('2026-10-19T09:30')
  const changed = await visitor.submit(back, { numbers: '27820000003' })
  expect(changed.to).toBe('/send/1')
  expect((await visitor.get('/send/1')).text).toContain('Send 1 message at 19 October, 09:30')
  const wrong = await visitor.submit(back, { text: ' ', numbers: '' })
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('Enter at least one number.')])
  const stranger = await portal.signedIn(await aHolder(portal.ports))
  expect((await stranger.get('/send/1/text')).status).toBe(404)
  expect((await visitor.submit(check)).to).toBe('/send/1?why=changed')
})

test.each([
  ['no text', { text: ' ', numbers: '27820000001' }, 'Enter a text.'],
  ['a text that is too long', { text: 'x'.repeat(919), numbers: '27820000001' }, 'The text is too long'],
  ['no number', { text: 'Hello', numbers: ' ,\n' }, 'Enter at least one number.'],
  [
    'too many',
    { text: 'Hello', numbers: Array.from({ length: 10_001 }, (_, i) => 27820000000 + i).join() },
    '10 001 numbers',
  ],
  ['30 February', { text: 'Hello', numbers: '27820000001', time: '2027-02-30T10:00' }, 'Enter a time'],
])('with %s the error is shown instead of a cost', async (_what, fields, problem) => {
  const shown = await visitor.submit('/send', fields)
  expect([shown.status, shown.text.replaceAll('\u202f', ' ')]).toEqual([422, expect.stringContaining(problem)])
})

test.each([
  ['Hello', '5 characters, 1 part.'],
  ['Ж “x”', '5 characters, 1 part. Because of Ж a part has room for 70 characters, or 67 if there are several.'],
  [
    'It’s 5 €',
    "8 characters, 1 part. Replaced by similar characters, which is cheaper: ’ as '. Each of € counts twice.",
  ],
])('the page describes how %j will be sent, without scripts', async (text, description) => {
  const shown = await visitor.submit('/send', { text })
  expect(shown.html.querySelector('#field-text-hint')?.textContent).toBe(description)
})

test('a message for later is scheduled, and can be cancelled once', async () => {
  const check = await checked({ text: 'Hello', numbers: '27820000001', time: '2026-10-19T09:30' })
  expect(check.text).toContain('Send 1 message at 19 October, 09:30')
  const { to = '' } = await visitor.submit(check)
  expect((await visitor.get(to)).html.querySelector('#outcomes svg.bar')?.getAttribute('aria-label')).toBe(
    '1 scheduled',
  )
  const page = await visitor.get('/messages/1')
  expect(page.text).toContain('To be sent at this time.')
  expect((await visitor.submit(page)).to).toBe('/messages/1?done=cancelled')
  const cancelled = await visitor.get('/messages/1?done=cancelled')
  expect(cancelled.text).toContain('1.0 credits were returned.')
  expect(await balance()).toBe(35)
  expect((await visitor.submit(page)).to).toBe('/messages/1')
  expect(await balance()).toBe(35)
})

test('the text and the time of a scheduled message are changed once', async () => {
  const check = await checked({ text: 'Hello', numbers: '27820000001', time: '2026-10-19T09:30' })
  await visitor.submit(check)
  expect((await visitor.get('/messages/1')).text).toContain('Change the text or the time')
  const page = await visitor.get('/messages/1/change')
  expect(page.html.querySelector('#field-time')?.getAttribute('value')).toBe('2026-10-19T09:30')
  const wrong = await visitor.submit(page, { text: ' ' })
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('Enter a text.')])
  const past = await visitor.submit(page, { text: 'Good day', time: '2025-10-20T10:00' })
  expect(past.text).toContain('The time that you chose has passed. Nothing has changed yet')
  expect(past.text).toContain('Change the message and send it at once')
  const other = await visitor.submit(past, { time: '2025-10-21T10:00' })
  expect(other.text).toContain('The time that you chose has passed. Nothing has changed yet')
  const dear = await visitor.submit(page, { text: 'x'.repeat(700) })
  expect([dear.status, dear.text]).toEqual([422, expect.stringContaining('Not enough credits. The message waits')])
  for (const changed of [1, 2].map(() => visitor.submit(page, { text: 'Good day', time: '2026-10-20T10:00' })))
    expect((await changed).to).toMatch(/^\/messages\/(2\?done=changed|1\?done=not-found)$/)
  const now = await visitor.get('/messages/2?done=changed')
  expect(now.text).toContain('The message was changed. This new message takes its place.')
  expect(now.text).toContain('Good day')
  expect((await visitor.get('/messages/1')).text).toContain('1.0 credits were returned.')
  expect((await visitor.get('/messages/1/change')).to).toBe('/messages/1')
  expect(await balance()).toBe(25)
})

test('a number that is read differently is shown as typed and as sent to, while typing and at the check', async () => {
  const numbers = '43660123456.0\n+43 (0)660 123457\n4.366E+10\n43660123456-7'
  const quote = await visitor.post('/send', { text: 'Hello', numbers, step: 'quote', ...(await tokenOf()) })
  expect(quote.text).toContain(
    'Read differently from how they are written: “43660123456.0” as 43660123456, “+43 (0)660 123457” as 43660123457',
  )
  const { to = '' } = await visitor.submit('/send', { text: 'Hello', numbers })
  const check = await visitor.get(to)
  expect(check.text).toContain('143660123456.0436601234562+43 (0)660 12345743660123457')
  expect(check.text).toContain('format the column as text1row 3: “4.366E+10”')
  expect(check.text).toContain('It is not certain which number is meant1row 4: “43660123456-7”')
  const again = await visitor.get(`${to}/text`)
  expect(again.html.querySelector('[name="numbers"]')?.textContent.trim()).toBe(numbers)
})

const tokenOf = async () => {
  const { html } = await visitor.get('/send')
  return { token: html.querySelector('main [name="token"]')?.getAttribute('value') ?? '' }
}

test('if all numbers are refused, there is no button to send', async () => {
  const check = await checked({ text: 'Hello', numbers: optedOut })
  expect(check.text).toContain('1 number will not be sent to')
  expect(check.html.querySelector('main form')).toBeNull()
})

test.each([
  ['+27 (82) 000-00.01', ['27820000001'], 0],
  ['43660123456.0\n43 660 123456', ['43660123456'], 1],
  ['1,2;3\t4\n5\n\n', ['1', '2', '3', '4', '5'], 0],
  ['1\n2\n1\n1', ['1', '2'], 2],
  ['Ann\n082 x', ['Ann', '082 x'], 0],
])('%j has the numbers %j', (text, numbers, repeated) => {
  expect(readRecipients(text, undefined)).toMatchObject({ numbers, repeated })
})
