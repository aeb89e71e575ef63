import { aNumber, promoteStandby } from '@gateway/core/testing'
import { aHolder, startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'
import { makeWorkbook } from '../../../testing/make-workbook.ts'
import { decodeText, inCalls, readList } from '../../read-list.ts'

let portal: Portal
let visitor: Visitor
const optedOut = '27820000009'

beforeEach(async () => {
  portal = await startPortal({ credits: 60 })
  visitor = await portal.signedIn()
  const since = portal.clock.now()
  await portal.ports.suppressions.add({ scope: portal.account.id, number: aNumber(optedOut), kind: 'opt-out', since })
})
afterEach(() => portal.close())

const balance = () => portal.gateway.queries.creditBalance(portal.account.id)
const file = `Name;Mobile;Sum\r\nAnn;+27 82 000 0001;12\r\n"=cmd(""x"")";${optedOut};7\r\nŞule;27820000003;9\r\n\r\nAnn;27820000001;1\r\n;0825;2\r\n`
const all = async () => {
  while ((await portal.gateway.commands.sendNextCall()) === 'more');
}

test('a file is checked row by row, can get another text, and is sent once in the background', async () => {
  const uploaded = await visitor.upload('/send', { text: 'Dear {name}, {Sum} is due' }, file)
  expect(uploaded.to).toBe('/send/1')
  const check = await visitor.get('/send/1')
  expect(check.text).toContain('Nothing has been sent or charged yet.')
  expect(check.text).toContain('Messages2Parts each1Price2.0Left afterwards4.0')
  expect(check.text).toContain('3 rows will not be sent to')
  expect(check.text).toContain(`Opted out1row 3: “${optedOut}”`)
  expect(check.text).toContain('Dear Ann, 12 is due')
  expect(await balance()).toBe(60)

  const refused = await visitor.get('/send/1/refused')
  expect(refused.headers['content-disposition']).toBe('attachment; filename="not-sent-1.csv"')
  expect(refused.html.textContent).toContain(`3,${optedOut},Opted out,"'=cmd(""x"")",${optedOut},7\r\n`)
  expect(refused.html.textContent).toContain('6,27820000001,The number is in the list already,Ann,27820000001,1\r\n')

  const wrong = await visitor.submit('/send/1/text', { text: 'Dear {nmae}' })
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('The file has no column “nmae”.')])
  const changed = await visitor.submit('/send/1/text', { text: 'Hello {name}', time: '2026-10-19T09:30' })
  expect(changed.to).toBe('/send/1')
  const again = await visitor.get('/send/1')
  expect(again.text).toContain('Send 2 messages at 19 October, 09:30')

  const [first, second] = await Promise.all([visitor.submit(again), visitor.submit(again)])
  expect([first.to, second.to]).toEqual(['/send/1/sent', '/send/1/sent'])
  const sent = await visitor.get('/send/1/sent')
  expect(sent.text).toContain('2 messages accepted')
  expect(sent.text).toContain('3 rows got no message and cost nothing')
  expect(
    (await portal.gateway.queries.listSent(portal.account, { limit: 9 })).messages.map(({ text }) => text).sort(),
  ).toEqual(['Hello Ann', 'Hello Şule'])
  expect(await balance()).toBe(40)
  expect((await visitor.get('/send/1')).to).toBe('/send/1/sent')
  expect((await visitor.get('/sends')).text).toContain('Hello {name}19 October, 09:3042.0scheduled')
  expect((await visitor.get('/send/1/results')).html.textContent).toContain(
    '27820000001,1,waiting,NOTFOUND -1,1.0,0.0,1.0\r\n',
  )
  expect((await visitor.submit(sent)).to).toBe('/send/1/sent')
  expect(await balance()).toBe(60)
  const cancelled = await visitor.get('/send/1/sent')
  expect(cancelled.text).toContain('Cancelled2')
  expect(cancelled.text).toContain('Charged2.0Returned2.0Net0.0')
  expect((await visitor.get('/sends')).text).toContain('Hello {name}19 October, 09:3040.0nothing sent')
  expect((await visitor.get('/send/1/results')).html.textContent).toContain(
    '27820000001,1,cancelled,SENDINGFAILED 102,1.0,1.0,0.0\r\n',
  )
  expect((await visitor.get('/send/1/text')).to).toBe('/send/1/sent')
})

test('the column of the numbers can be changed, and the list is checked again', async () => {
  const two = 'Name,Mobile,Office\nAnn,27820000001,27820000002\nBob,27820000001,27820000003\n'
  const { to = '' } = await visitor.upload('/send', { text: 'Dear {name}', time: '2026-10-19T09:30' }, two)
  const check = await visitor.get(to)
  expect(check.text).toContain('1 row will not be sent to')
  expect(check.text).toContain('The numbers are in the column “Mobile”.')
  const columns = await visitor.get(`${to}/columns`)
  expect(columns.html.querySelector('option[selected]')?.textContent).toBe('Mobile')
  expect(columns.text).toContain('Ann2782000000127820000002')
  const chosen = await visitor.submit(columns, { column: '2' })
  expect(chosen.to).toBe('/send/1')
  const again = await visitor.get('/send/1')
  expect(again.text).toContain('The numbers are in the column “Office”.')
  expect(again.text).toContain('Send 2 messages at 19 October, 09:30')
  expect(again.text).not.toContain('will not be sent to')
  expect((await visitor.submit(columns, { column: '3' })).to).toBe('/send/1/columns?why=none')
  // The check that was opened before the column was changed does not start another list than it shows.
  expect((await visitor.submit(check)).to).toBe('/send/1?why=changed')
  expect((await visitor.get('/send/1?why=changed')).text).toContain('This send was changed in another window')
  expect((await visitor.submit(again)).to).toBe('/send/1/sent')
  expect((await visitor.get('/send/1/columns')).to).toBe('/send/1/sent')
})

test('a blank field with a fallback is filled in, and the check shows the longest, the dearest and any chosen row', async () => {
  await portal.backOffice.commands.setPrice('43', 25 as never)
  await portal.backOffice.commands.topUp(portal.account.id, 100 as never, 'test')
  const names = ['Ann', 'Bo', 'Cid', 'Dan', 'Euphemia the Second', '']
  const list = `Name,Mobile\n${names.map((name, at) => `${name},2782000000${at}`).join('\n')}\nFay,43660123456\n`
  const { to = '' } = await visitor.upload('/send', { text: 'Dear {name | customer}' }, list)
  const check = await visitor.get(to)
  expect(check.text).toContain(
    'Dear Euphemia the SecondTo 27820000004 (row 6): 24 characters, 1 part, 1.0 credits. This is the longest message.',
  )
  expect(check.text).toContain(
    'Dear FayTo 43660123456 (row 8): 8 characters, 1 part, 2.5 credits. This is the dearest message.',
  )
  expect(check.text).not.toContain('Dear customer')
  const chosen = await visitor.get(`${to}?row=7`)
  expect(chosen.text).toContain('Dear customerTo 27820000005 (row 7): 13 characters')
  expect(chosen.text).toContain('This is the row that you chose.')
  expect((await visitor.get(`${to}?row=99`)).text).toContain('Row 99 of the list is not there or blank.')
  await visitor.submit(check)
  await all()
  expect(
    (await portal.gateway.queries.listSent(portal.account, { limit: 9 })).messages.map(({ text }) => text),
  ).toContain('Dear customer')
})

test('a chosen row that gets no message is shown with its text and the reason', async () => {
  const list = `Name,Mobile\nAnn,27820000001\nBo,${optedOut}\n`
  const { to = '' } = await visitor.upload('/send', { text: 'Dear {name}' }, list)
  expect((await visitor.get(`${to}?row=3`)).text).toContain('Dear BoRow 3 gets no message. Opted out.')
})

test('a test sends the text of one row to a number of the reader, once, and leaves the draft as it is', async () => {
  const list = 'Name,Mobile\nAnn,27820000001\nBo,27820000002\n,27820000003\n'
  const { to = '' } = await visitor.upload('/send', { text: 'Dear {name}' }, list)
  const form = 'main form:has([value="test"])'
  const page = await visitor.get(`${to}?row=3`)
  expect(page.text).toContain('The text of row 3 is sent to this number at once, and charged.')
  const wrong = await visitor.submit(page, { number: '0825' }, form)
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('This begins with 0.')])
  expect(await balance()).toBe(60)
  const [first, second] = await Promise.all([1, 2].map(() => visitor.submit(page, { number: '+27 82 555 0101' }, form)))
  expect([first?.to, second?.to]).toEqual([`${to}?row=3&test=1`, `${to}?row=3&test=1`])
  expect((await visitor.get(first?.to ?? '')).text).toContain('The test was sent to 27825550101: message 1.')
  const { messages } = await portal.gateway.queries.listSent(portal.account, { limit: 9 })
  expect(messages.map(({ text, number }) => [text, number])).toEqual([['Dear Bo', '27825550101']])
  expect(await balance()).toBe(50)
  expect((await visitor.submit(page, { number: '27825550102' }, form)).text).toContain('already used for another')
  const again = await visitor.get(`${to}?row=3`)
  const refused = await visitor.submit(again, { number: optedOut }, form)
  expect(refused.text).toContain('Nothing was sent: Opted out.')
  expect(refused.text).toContain('The text of row 3 is sent to this number')
  expect((await visitor.submit(again, { number: '27825550101', row: '4' }, form)).text).toContain('has no value')
  expect((await visitor.submit(again, { number: '27825550101', row: '9' }, form)).text).toContain('no such row')
  expect(await balance()).toBe(50)
  const stranger = await portal.signedIn(await aHolder(portal.ports))
  const own = await visitor.submit('/send', { text: 'Mine', numbers: '27820000001' })
  expect((await stranger.get(`${own.to ?? ''}?test=1`)).status).toBe(404)
})

test('sender, validity, flash and category are chosen, shown at the check, and used for each message', async () => {
  await portal.backOffice.commands.allowSender({
    ...{ account: portal.account.id, sender: 'ACME' as never, destinations: ['27'], defaultFor: [], carriers: [] },
    otherwise: 'refuse',
  })
  const form = await visitor.get('/send')
  expect(form.html.querySelectorAll('#field-sender option').map(({ textContent }) => textContent)).toEqual([
    'Default: a number of the operator',
    'ACME, nobody can reply, only to 27…',
  ])
  const options = { sender: 'ACME', validity: '60', flash: '1', category: 'reminders' }
  for (const [field, problem] of [
    [{ sender: 'Other' }, 'Choose one of the senders in the list.'],
    [{ validity: '0' }, 'Choose one of the times'],
    [{ category: 'x'.repeat(33) }, 'A category has at most 32 characters.'],
  ] as const) {
    const wrong = await visitor.submit('/send', { text: 'Hello', numbers: '27820000001', ...options, ...field })
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining(problem)])
  }
  for (const { to = '' } of [
    await visitor.submit('/send', { text: 'Hello', numbers: '27820000001', ...options }),
    await visitor.upload('/send', { text: 'Hello', ...options }, 'Mobile\n27820000002\n'),
  ]) {
    expect((await visitor.get(to)).text).toContain(
      'Sent now from ACME (nobody can reply). Given up if it is not delivered within 1 hour. ' +
        'Shown at once on the screen, and not kept on the phone. Category: reminders.',
    )
    const edit = await visitor.get(`${to}/text`)
    expect(edit.html.querySelector('#field-sender [selected]')?.getAttribute('value')).toBe('ACME')
    expect(edit.html.querySelector('details[open] [name="flash"][checked]')).not.toBeNull()
    expect((await visitor.submit(edit)).to).toBe(to)
    await visitor.submit(to)
  }
  for (const message of [1, 2]) {
    const sent = await portal.gateway.queries.showSent(portal.account, message as never)
    expect(sent).toMatchObject({ options: { validity: 60, flash: true, category: 'reminders' } })
  }
  const several = await visitor.submit('/send', { text: 'Hello', numbers: '27820000001, 43660123456' })
  expect((await visitor.get(several.to ?? '')).text).toContain('Sent now from a number of the operator.')
  await portal.backOffice.commands.allowSender({
    ...{ account: portal.account.id, sender: 'ACME' as never, destinations: ['27'], defaultFor: ['27'], carriers: [] },
    otherwise: 'refuse',
  })
  expect((await visitor.get(several.to ?? '')).text).toContain(
    'Sent now from ACME (1 message, nobody can reply) and a number of the operator (1 message).',
  )
  expect((await visitor.get('/send')).text).toContain('By default it is ACME to 27…, else a number of the operator.')
  const abroad = await visitor.submit('/send', { text: 'Hello', numbers: '43660123456', ...options })
  expect((await visitor.get(abroad.to ?? '')).text).toContain('Your account has no sender for this number')
})

test('if two columns could be the numbers, nothing is sent until one is chosen', async () => {
  const two = 'Name,Mobile,Work phone\nAnn,27820000001,27820000002\n'
  const preview = await visitor.upload('/send', { step: 'preview', text: 'Dear {name}' }, two)
  expect(preview.html.querySelector('#preview option[selected]')?.textContent).toBe('Choose the column…')
  const { to = '' } = await visitor.upload('/send', { text: 'Dear {name}', column: '' }, two)
  expect((await visitor.get(to)).to).toBe(`${to}/columns`)
  const columns = await visitor.get(`${to}/columns`)
  expect(columns.text).toContain('Several columns of your file could be the numbers')
  const started = await visitor.submit(columns, { column: '' })
  expect(started.to).toBe(`${to}/columns?why=none`)
  expect((await visitor.get(`${to}/columns?why=none`)).text).toContain('Choose the column of the numbers.')
  const token = columns.html.querySelector('main [name="token"]')?.getAttribute('value') ?? ''
  expect((await visitor.post(to, { token })).to).toBe(`${to}/columns`)
  await all()
  expect((await portal.gateway.queries.listSent(portal.account, { limit: 9 })).messages).toEqual([])
  const chosen = await visitor.submit(columns, { column: '2' })
  expect((await visitor.get(chosen.to ?? '')).text).toContain('To 27820000002 (row 2)')
})

test('a row without a value for a field of the text gets no message and is listed', async () => {
  const list = 'Name,Mobile,Sum\nAnn,27820000001,6\n,27820000002,7\nCid,27820000003, \nDan,27820000004,8\n'
  const { to = '' } = await visitor.upload('/send', { text: 'Dear {name}, {sum} is due' }, list)
  const check = await visitor.get(to)
  expect(check.text).toContain('2 rows will not be sent to')
  expect(check.text).toContain('A field of the text has no value in this row2row 3: “27820000002”')
  expect((await visitor.get(`${to}/refused`)).html.textContent).toContain(
    '4,27820000003,A field of the text has no value in this row,Cid,27820000003, \r\n',
  )
  await visitor.submit(check)
  await all()
  expect(
    (await portal.gateway.queries.listSent(portal.account, { limit: 9 })).messages.map(({ text }) => text).sort(),
  ).toEqual(['Dear Ann, 6 is due', 'Dear Dan, 8 is due'])
  expect((await visitor.get(`${to}/sent`)).text).toContain('A field of the text has no value in this row2')
  const other = await visitor.upload('/send', { text: 'Hello' }, list)
  expect((await visitor.get(other.to ?? '')).text).not.toContain('has no value')
})

test('numbers without a country code are read in the country of the account, and shown before they are sent', async () => {
  const without = await visitor.upload('/send', { text: 'Hello' }, 'Mobile\n0660 123456\n')
  expect((await visitor.get(without.to ?? '')).text).toContain('Begins with 0: the country code is missing')
  const wrong = await visitor.submit('/settings/country', { code: '999' })
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('Enter the calling code of a country')])
  expect((await visitor.submit('/settings/country', { code: '+43' })).to).toBe('/settings/country?done=stored')
  expect((await visitor.get('/settings/country')).html.querySelector('#field-code')?.getAttribute('value')).toBe('43')
  for (const { to = '' } of [
    await visitor.upload('/send', { text: 'Hello' }, 'Mobile\n0660 123456\n+27 82 000 0001\n'),
    await visitor.submit('/send', { text: 'Hello', numbers: '0660 123456\n+27 82 000 0001' }),
  ]) {
    const check = await visitor.get(to)
    expect(check.text).toContain('1 number was cleaned up')
    expect(check.text).toContain('0660 12345643660123456')
    await visitor.submit(check)
  }
  expect(
    (await portal.gateway.queries.listSent(portal.account, { limit: 9 })).messages.map(({ number }) => number).sort(),
  ).toEqual(['27820000001', '27820000001', '43660123456', '43660123456'])
  expect((await visitor.submit('/settings/country', { code: '' })).to).toBe('/settings/country?done=stored')
  const again = await visitor.submit('/send', { text: 'Hello', numbers: '0660 123456' })
  expect((await visitor.get(again.to ?? '')).text).toContain('Begins with 0')
})

test('a workbook is uploaded, previewed and sent like a text file', async () => {
  const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`
  const workbook = makeWorkbook({
    rows: `<row>${cell('Name')}${cell('Mobile')}</row><row>${cell('Ann')}<c><v>27820000001</v></c></row>`,
  })
  const preview = await visitor.upload('/send', { step: 'preview', text: 'Dear {name}' }, workbook)
  expect(preview.html.querySelector('#preview')?.textContent).toContain('Dear Ann')
  const { to = '' } = await visitor.upload('/send', { text: 'Dear {name}' }, workbook)
  expect((await visitor.get(to)).text).toContain('Dear AnnTo 27820000001 (row 2)')
  const broken = await visitor.upload('/send', { text: 'Dear {name}' }, workbook.subarray(0, 900))
  expect([broken.status, broken.text]).toEqual([422, expect.stringContaining('The workbook is damaged')])
})

test('a past time is reported, and the messages are sent at once only after confirmation', async () => {
  const time = '2025-10-19T09:30'
  for (const { to = '' } of [
    await visitor.submit('/send', { text: 'Hello', numbers: '27820000001', time }),
    await visitor.upload('/send', { text: 'Hello', time }, 'Mobile\n27820000001\n'),
  ]) {
    const check = await visitor.get(to)
    expect(check.text).toContain('The time that you chose has passed: 19 October 2025, 09:30.')
    expect(check.text).toContain('Send 1 message at once')
  }
  const { html } = await visitor.get('/send')
  const token = html.querySelector('main [name="token"]')?.getAttribute('value') ?? ''
  const quote = await visitor.post('/send', { text: 'Hello', numbers: '27820000001', time, step: 'quote', token })
  expect(quote.text).toContain('The time has passed: the messages would be sent at once.')
})

test('a file that lacks a field of the text is kept: the next page shows its columns, and nothing is sent before', async () => {
  const { to } = await visitor.upload('/send', { text: 'Dear {nmae}' }, 'Name,Mobile\nAnn,27820000001\n')
  expect(to).toBe('/send/1')
  expect((await visitor.get('/send/1')).to).toBe('/send/1/text?why=problem')
  const page = await visitor.get('/send/1/text?why=problem')
  expect([page.status, page.text]).toEqual([422, expect.stringContaining('The file has no column “nmae”.')])
  expect(page.text).toContain('Fields of your file: {Name} {Mobile}')
  expect(await portal.gateway.commands.startBulkSend(portal.account, 1 as never, 0)).toBe(false)
  expect((await visitor.submit(page, { text: 'Dear {name}' })).to).toBe('/send/1')
  const text = await visitor.get('/send/1/text')
  expect(text.text).toContain('Dear AnnThe message of row 2 to 27820000001: 8 characters, 1 part.')
  expect((await visitor.submit('/send/1')).to).toBe('/send/1/sent')
})

test('numbers that are read differently are shown as written and as sent to; uncertain ones are refused by row', async () => {
  const list =
    'Name,Mobile\nA,27820000001.0\nB,+27 (0)82 000 0002\nC,\u202a+27 82 000 0003\u202c\nD,"=""27820000004"""\n'
  const bad = 'E,2.782E+10\nF,0820000005\nG,27820000006.5\nH,\n'
  const { to = '' } = await visitor.upload('/send', { text: 'Dear {name}' }, list + bad)
  const check = await visitor.get(to)
  expect(check.text).toContain('2 numbers were cleaned up')
  expect(check.text).toContain('227820000001.027820000001')
  expect(check.text).toContain('3+27 (0)82 000 000227820000002')
  expect(check.text).toContain(
    'A spreadsheet rounded the number and digits are lost: format the column as text1row 6: “2.782E+10”',
  )
  expect(check.text).toContain('Begins with 0: the country code is missing1row 7: “0820000005”')
  expect(check.text).toContain('It is not certain which number is meant1row 8: “27820000006.5”')
  expect(check.text).toContain('There is no number1row 9')
  expect(check.text).toContain('The numbers are in the column “Mobile”.')
  const changed = (await visitor.get(`${to}/changed`)).html.textContent
  expect(changed).toContain("2,27820000001.0,27820000001\r\n3,'+27 (0)82 000 0002,27820000002\r\n")
  await visitor.submit(check)
  await all()
  const numbers = (await portal.gateway.queries.listSent(portal.account, { limit: 9 })).messages.map(
    ({ number }) => number,
  )
  expect(numbers.sort()).toEqual(['27820000001', '27820000002', '27820000003', '27820000004'])
})

test('all drafts are listed in pages and deleted one by one; above the maximum a new draft is refused', async () => {
  const add = (text: string) => visitor.submit('/send', { text, numbers: '27820000001' })
  for (let draft = 1; draft <= 30; draft++) await add(`Draft ${draft}`)
  const page = await visitor.get('/drafts')
  expect(page.html.querySelectorAll('tbody tr')).toHaveLength(25)
  expect(page.text).toContain('Draft 30')
  const older = await visitor.get('/drafts?before=6')
  expect(older.html.querySelectorAll('tbody tr td a').map(({ textContent }) => textContent)).toEqual(
    [5, 4, 3, 2, 1].map((draft) => `Draft ${draft}`),
  )
  expect(page.html.querySelectorAll('.actions a').map((link) => link.getAttribute('href'))).toContain(
    '/drafts?before=6',
  )
  expect((await visitor.submit(older, {}, 'td form')).to).toBe('/drafts?done=deleted')
  expect((await visitor.get('/send/5')).status).toBe(404)
  expect((await visitor.submit(older, {}, 'td form')).to).toBe('/drafts')
  await visitor.submit('/send/1')
  expect((await visitor.get('/drafts?before=6')).text).not.toContain('Draft 1')
  for (let draft = 29; draft <= 100; draft++) await add('More')
  const refused = await add('One too many')
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('You have 100 drafts')])
  expect(refused.html.querySelector('#field-text')?.textContent.trim()).toBe('One too many')
  expect((await visitor.get('/sends')).html.querySelector('a[href="/drafts"]')).not.toBeNull()
})

test('a file without a text leads to the page of the text', async () => {
  await visitor.upload('/send', { text: '' }, file)
  expect((await visitor.get('/send/1')).to).toBe('/send/1/text?why=problem')
})

test('a send is stopped in the middle, and the page lists the rows that were not accepted', async () => {
  const numbers = Array.from({ length: 2500 }, (_, i) => 27820000100 + i).join('\n')
  await portal.backOffice.commands.topUp(portal.account.id, 100_000 as never, 'test')
  const { to = '' } = await visitor.submit('/send', { text: 'Hello', numbers })
  const begun = await visitor.submit(to)
  const stopped = await visitor.submit(begun.to ?? '')
  expect(stopped.to).toBe('/send/1/sent')
  await all()
  const sent = (await visitor.get('/send/1/sent')).text.replaceAll('\u202f', ' ')
  expect(sent).toContain('1 000 messages accepted')
  expect(sent).toContain('Stopped before its turn1 500')
  expect(sent).toContain('The send was stopped.')
  expect((await visitor.get('/sends')).html.querySelector('tbody .state')?.textContent).toBe('stopped')
  expect((await visitor.get('/send/1/refused')).html.textContent.split('\r\n')).toHaveLength(1502)
  expect(await balance()).toBe(60 + 100_000 - 10_000)
})

test('a send that a failover stopped accepts no further row, and its page says that rows may have been sent', async () => {
  const numbers = Array.from({ length: 2500 }, (_, i) => 27820000100 + i).join('\n')
  await portal.backOffice.commands.topUp(portal.account.id, 100_000 as never, 'test')
  const { to = '' } = await visitor.submit('/send', { text: 'Hello', numbers })
  await visitor.submit(to)
  promoteStandby(portal.store)
  await portal.gateway.commands.sendNextCall()
  expect((await visitor.get('/send/1/sent')).text.replaceAll('\u202f', ' ')).toContain(
    '1 500 numbers not accepted here may have been sent by the server that was lost.',
  )
  await all()
  const sent = (await visitor.get('/send/1/sent')).text.replaceAll('\u202f', ' ')
  expect(sent).toContain('1 000 messages accepted')
  expect(sent).toContain('This send was stopped because the database failed over. 1 500 numbers')
  expect(sent).toContain('1 500 numbers got no message that is known here')
  expect((await visitor.get('/sends')).html.querySelector('tbody .state')?.textContent).toBe('stopped by a failover')
  expect((await visitor.get('/send/1/refused')).html.textContent).toContain(
    ',May have been sent: a failover of the database stopped the send\r\n',
  )
  expect(await balance()).toBe(60 + 100_000 - 10_000)
})

test.each([
  ['only a header', 'Name,Mobile\r\n,,\r\n', 'no rows after it'],
  ['no bytes', '', 'The file is empty'],
  ['a workbook that is cut', 'PK\u0003\u0004 [Content_Types].xml', 'The workbook is damaged'],
  ['no numbers', 'Name\nAnn\n', 'No column of the file has mobile numbers.'],
  ['a quote that is not closed', `Mobile,Name\n27820000001,"${'x\n'.repeat(20_000)}`, 'a quote is not closed'],
  ['many columns', `27820000001${','.repeat(60)}\n`, 'more than 50 columns'],
  ['too many rows', '27820000001\n'.repeat(100_001), 'more than 100 000 rows'],
])('a file with %s is refused with a reason', async (_what, content, problem) => {
  const shown = await visitor.upload('/send', { text: 'Hello' }, content)
  expect([shown.status, shown.text]).toEqual([422, expect.stringContaining(problem)])
})

test('typed numbers and a file cannot be combined', async () => {
  const shown = await visitor.upload('/send', { text: 'Hello', numbers: '27820000001' }, '27820000002\n')
  expect([shown.status, shown.text]).toEqual([
    422,
    expect.stringContaining('Enter numbers or choose a file, not both.'),
  ])
})

test('uploads are limited in bytes and fields, and visitors who are not signed in cannot upload large bodies', async () => {
  const large = Buffer.alloc(17 * 1024 * 1024, 'x')
  expect((await visitor.upload('/send', { text: 'Hello' }, large)).status).toBe(413)
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`f${i}`, 'x']))
  expect((await visitor.upload('/send', many, file)).status).toBe(413)
  const { html } = await visitor.get('/send')
  const token = html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
  for (const path of ['/send', '/opt-outs']) {
    const form = new FormData()
    form.set('token', token)
    form.set('file', new Blob([Buffer.alloc(300 * 1024, '1')]))
    const headers = { 'sec-fetch-site': 'same-origin', ...(path === '/send' ? {} : { cookie: visitor.cookie ?? '' }) }
    expect([path, (await fetch(`${portal.url}${path}`, { method: 'POST', headers, body: form })).status]).toEqual([
      path,
      413,
    ])
  }
})

test('typed numbers that are read differently are shown as typed, also in long lists', async () => {
  const many = Array.from({ length: 1100 }, (_, i) => 27820000100 + i)
  const numbers = ['27820000001.0', '43660123456.5', ...many].join('\n')
  const { to = '' } = await visitor.submit('/send', { text: 'Hello', numbers })
  const check = await visitor.get(to)
  expect(check.text).toContain('1 number was cleaned up')
  expect(check.text).toContain('127820000001.027820000001')
  expect(check.text).toContain('It is not certain which number is meant1row 2: “43660123456.5”')
})

const umlaut = 'Nümber,Name €\r\n27820000001,Müller\r\n'
test.each([
  ['UTF-8', Buffer.from(umlaut)],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${umlaut}`)],
  ['UTF-16 with a mark', Buffer.from(`\ufeff${umlaut}`, 'utf16le')],
  ['UTF-16 without one', Buffer.from(umlaut, 'utf16le')],
  ['UTF-16, the high byte first', Buffer.from(`\ufeff${umlaut}`, 'utf16le').swap16()],
  ['UTF-16BE without a byte order mark', Buffer.from(umlaut, 'utf16le').swap16()],
  ['Windows-1252', Buffer.from(umlaut.replace('€', '\x80'), 'latin1')],
])('a text in %s is decoded', (_name, bytes) => {
  expect(decodeText(bytes)).toBe(umlaut)
})

test.each([
  ['Name,Mobile\nAnn,27820000001', ['Name', 'Mobile'], 1, [[2, '27820000001']]],
  ['a\tb\n1\t27820000001', ['a', 'b'], 1, [[2, '27820000001']]],
  ['27820000001;"Ann; B"\r\n', ['1', '2'], 0, [[1, '27820000001']]],
  ['sep=;\r\nid;to\r\n27820000009;27820000001\r\n', ['id', 'to'], 1, [[2, '27820000001']]],
  [
    'Phone,Note\n+27 (82) 000-0001,"two\nlines"\n27820000002,x',
    ['Phone', 'Note'],
    0,
    [
      [2, '27820000001'],
      [3, '27820000002'],
    ],
  ],
])('%j has the columns %j, and the numbers are in column %j', async (text, columns, numberColumn, rows) => {
  const list = await readList(Buffer.from(text), undefined)
  if (typeof list === 'string') throw new Error(list)
  expect([list.columns, list.numberColumn]).toEqual([columns, numberColumn])
  expect(list.rows.map(({ row, number }) => [row, number])).toEqual(rows)
})

test('rows are divided into calls, and repetitions are marked', async () => {
  const list = await readList(Buffer.from('27820000001\n27820000002\n+27820000001\n'.repeat(700)), undefined)
  if (typeof list === 'string') throw new Error(list)
  expect(inCalls(list.rows).map(({ length }) => length)).toEqual([1000, 1000, 100])
  expect(list.rows.filter(({ refused }) => refused === undefined)).toHaveLength(2)
})

test('the columns of a file are shown before it is uploaded, and the column of the numbers can be chosen', async () => {
  const preview = async (file: string | Buffer, cut = '') =>
    (await visitor.upload('/send', { step: 'preview', text: 'Dear {name}', cut }, file)).html.querySelector('#preview')
  const two = 'Name,Mobile,Shop phone\nAnn,27820000001,27820000005\nŞule,27820000002,27820000006\nBob,278'
  const shown = await preview(two, 'yes')
  expect(shown?.querySelectorAll('option').map(({ textContent }) => textContent)).toEqual([
    'Choose the column…',
    'Name',
    'Mobile',
    'Shop phone',
  ])
  expect(shown?.textContent).toContain('Dear Ann')
  // If the last character is cut, the rows before it are read anyway.
  for (const cut of [Buffer.from(two).subarray(0, 54), Buffer.from(two, 'utf16le').subarray(0, 111)])
    expect((await preview(cut, 'yes'))?.querySelector('option + option')?.textContent).toBe('Name')
  expect((await preview('a,b\nc,d\n'))?.textContent).toContain('No column of the file has mobile numbers.')
  expect((await preview('Name,Mobile\nAnn,27820000001\n"Bob', 'yes'))?.querySelectorAll('option')).toHaveLength(2)
  expect(await portal.gateway.queries.listBulkSends(portal.account, { limit: 10 })).toEqual([])

  for (const [column, expected] of [
    ['2', '27820000005'],
    ['1', '27820000001'],
  ] as const) {
    const { to = '' } = await visitor.upload('/send', { text: 'Dear {name}', column }, two)
    expect((await visitor.get(to)).text).toContain(`To ${expected} (row 2)`)
  }
  const { to = '' } = await visitor.upload('/send', { text: 'Dear {name}', column: '9' }, two)
  expect((await visitor.get(to)).to).toBe(`${to}/columns`)
})
