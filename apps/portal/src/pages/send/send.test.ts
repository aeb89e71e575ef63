import { aNumber } from '@gateway/core/testing'
import { startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'
import { readRecipients } from '../../recipients.ts'
import { readIds, writeIds } from './ids.ts'

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

const balance = () => portal.gateway.creditBalance(portal.account.id)

test('the check says what will happen, with each refused number and its reason, and charges nothing', async () => {
  const numbers = `27820000001\n+27 82 000 0002\n27820000003, 27820000004\n27820000001\n${optedOut}\n0825`
  const check = await visitor.submit('/send', { text: 'Hello', numbers })
  expect(check.status).toBe(200)
  expect(check.text).toContain('Nothing has been sent or charged yet.')
  expect(check.text).toContain('Messages3Parts each1Price3.0Left afterwards0.5')
  expect(check.text).toContain('All of them would cost 4.0 credits, and you have 3.5: 3 messages can be sent.')
  expect(check.text).toContain('3 numbers will not be sent to')
  for (const row of [
    `Opted out1${optedOut}`,
    'No mobile number that can be reached10825',
    'Not enough credits127820000004',
  ])
    expect(check.text).toContain(row)
  expect(check.text).toContain('1 repetition in the list is left out')
  expect(await balance()).toBe(35)
})

test('while it is written the same is said in short, and nothing is sent, stored or charged', async () => {
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
    `2 messages, 1 part each: 2.0 credits. 1.5 left afterwards.Opted out: ${optedOut}No mobile number that can be reached: 0825`,
  )
  expect(await quote('Hello', Array.from({ length: 7 }, (_, i) => `082${i}`).join())).toContain(
    'No mobile number that can be reached: 0820, 0821, 0822, 0823, 0824 and 2 more',
  )
  expect(await quote('Hello', Array.from({ length: 1001 }, (_, i) => 27820000100 + i).join())).toContain(
    'more than 1\u202f000 numbers cost is on the next page',
  )
  expect(await quote(' ', '27820000001')).toBe('Enter a text.')
  expect(await quote('Hello', '27820000001', 'tomorrow')).toContain('Enter a time')
  expect([await balance(), (await portal.gateway.listBulkSends(portal.account, { limit: 10 })).length]).toEqual([35, 0])
  expect((await visitor.post('/send', { step: 'quote', text: 'Hello', numbers: '27820000001' })).status).toBe(403)
})

test('the refused numbers can be downloaded, each with its reason', async () => {
  const check = await visitor.submit('/send', { text: 'Hello', numbers: `27820000001\n${optedOut}\n=1+1` })
  const file = await visitor.submit(check, {}, 'form:has([value="refused"])')
  expect(file.headers['content-disposition']).toBe('attachment; filename="not-sent.csv"')
  expect(file.html.textContent).toBe(
    `\ufeffNumber,Reason\r\n${optedOut},Opted out\r\n'=1+1,No mobile number that can be reached\r\n`,
  )
})

test('what was checked is sent once, however often the form is submitted', async () => {
  const check = await visitor.submit('/send', { text: 'Hello', numbers: `27820000001\n${optedOut}` })
  const [first, second] = await Promise.all([visitor.submit(check), visitor.submit(check)])
  expect(first.to).toMatch(/^\/sends\/1\?refused=opted-out\.1$/)
  expect(second.to).toBe(first.to)
  expect((await visitor.submit(check)).to).toBe(first.to)
  expect(await balance()).toBe(25)
  const sent = await visitor.get(first.to ?? '')
  expect(sent.text).toContain('1 message accepted')
  expect(sent.text).toContain('1 number got no message and cost nothing.Opted out: 1')
  expect(sent.html.querySelector('svg.bar')?.getAttribute('aria-label')).toBe('1 waiting')
})

test('the key of a form sends nothing else', async () => {
  const check = await visitor.submit('/send', { text: 'Hello', numbers: '27820000001' })
  await visitor.submit(check)
  const other = await visitor.submit(check, { text: 'Another text' })
  expect([other.status, other.text]).toEqual([422, expect.stringContaining('This form was used already')])
  expect(await balance()).toBe(25)
})

test('a step back keeps what was written, also an empty first line', async () => {
  const check = await visitor.submit('/send', { text: '\nHello\nthere', numbers: '27820000001' })
  const back = await visitor.submit(check, { step: 'change' })
  expect(back.html.querySelector('#field-text')?.textContent).toBe('\n\nHello\nthere')
  expect(back.html.querySelector('#field-numbers')?.textContent).toBe('27820000001')
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
])('with %s nothing is quoted, and what is wrong is said', async (_what, fields, problem) => {
  const shown = await visitor.submit('/send', fields)
  expect([shown.status, shown.text.replaceAll('\u202f', ' ')]).toEqual([422, expect.stringContaining(problem)])
})

test.each([
  ['Hello', '5 characters, 1 part.'],
  ['Ж “x”', '5 characters, 1 part. Because of Ж a part has room for 70 characters, or 67 if there are several.'],
  [
    'It’s 5 €',
    "8 characters, 1 part. Sent as others that look alike, which is cheaper: ’ as '. Each of € counts twice.",
  ],
])('of %j the page says how it will be sent, without a script', async (text, said) => {
  const shown = await visitor.submit('/send', { text, step: 'change' })
  expect(shown.html.querySelector('#field-text-hint')?.textContent).toBe(said)
})

test('a message for later is scheduled, and can be cancelled once', async () => {
  const check = await visitor.submit('/send', { text: 'Hello', numbers: '27820000001', time: '2026-10-19T09:30' })
  expect(check.text).toContain('Send 1 message at 19 October, 09:30')
  const { to = '' } = await visitor.submit(check)
  expect((await visitor.get(to)).html.querySelector('svg.bar')?.getAttribute('aria-label')).toBe('1 scheduled')
  const page = await visitor.get('/messages/1')
  expect(page.text).toContain('To be sent at this time.')
  expect((await visitor.submit(page)).to).toBe('/messages/1?done=cancelled')
  const cancelled = await visitor.get('/messages/1?done=cancelled')
  expect(cancelled.text).toContain('1.0 credits were given back.')
  expect(await balance()).toBe(35)
  expect((await visitor.submit(page)).to).toBe('/messages/1')
  expect(await balance()).toBe(35)
})

test('the text and the time of a message that waits are changed once', async () => {
  const check = await visitor.submit('/send', { text: 'Hello', numbers: '27820000001', time: '2026-10-19T09:30' })
  await visitor.submit(check)
  expect((await visitor.get('/messages/1')).text).toContain('Change the text or the time')
  const page = await visitor.get('/messages/1/change')
  expect(page.html.querySelector('#field-time')?.getAttribute('value')).toBe('2026-10-19T09:30')
  const wrong = await visitor.submit(page, { text: ' ' })
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('Enter a text.')])
  const dear = await visitor.submit(page, { text: 'x'.repeat(700) })
  expect([dear.status, dear.text]).toEqual([422, expect.stringContaining('Not enough credits. The message waits')])
  for (const changed of [1, 2].map(() => visitor.submit(page, { text: 'Good day', time: '2026-10-20T10:00' })))
    expect((await changed).to).toMatch(/^\/messages\/(2\?done=changed|1\?done=not-found)$/)
  const now = await visitor.get('/messages/2?done=changed')
  expect(now.text).toContain('The message is changed: this one waits in its place.')
  expect(now.text).toContain('Good day')
  expect((await visitor.get('/messages/1')).text).toContain('1.0 credits were given back.')
  expect((await visitor.get('/messages/1/change')).status).toBe(404)
  expect(await balance()).toBe(25)
})

test('where all are refused nothing is offered to be sent', async () => {
  const check = await visitor.submit('/send', { text: 'Hello', numbers: optedOut })
  expect(check.html.querySelector('[name="step"][value="send"]')).toBeNull()
})

test.each([
  ['+27 (82) 000-00.01', ['27820000001'], 0],
  ['1,2;3\t4\n5\n\n', ['1', '2', '3', '4', '5'], 0],
  ['1\n2\n1\n1', ['1', '2'], 2],
  ['Ann\n082 x', ['Ann', '082x'], 0],
])('of %j the numbers are %j', (text, numbers, repeated) => {
  expect(readRecipients(text)).toEqual({ numbers, repeated })
})

test('ids are written in runs and read again; what is no such list is refused', () => {
  const ids = [7, 1, 2, 3, 9, 8].map((id) => id as never)
  expect(writeIds(ids)).toBe('1-3.7-9')
  expect(readIds('1-3.7-9')).toEqual([1, 2, 3, 7, 8, 9])
  expect([writeIds([]), readIds('none')]).toEqual(['none', []])
  for (const text of ['', 'x', '0', '3-1', '1-', '1-1001', '1-2-3x', '1.', '-1', '1-99999999999999999'])
    expect([text, readIds(text)]).toEqual([text, undefined])
})
