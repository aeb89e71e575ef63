import { aHolder, startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'

let portal: Portal
let visitor: Visitor
beforeAll(async () => {
  portal = await startPortal()
  visitor = await portal.signedIn()
})
afterAll(() => portal.close())

const reminder = { name: 'Reminder', text: 'Dear {name}, {sum} is due' }

test('a template is added once, used for a message, changed and removed', async () => {
  const empty = await visitor.get('/templates')
  expect(empty.text).toContain('Keep texts here that you send repeatedly.')
  for (const added of await Promise.all([visitor.submit(empty, reminder), visitor.submit(empty, reminder)]))
    expect(added.to).toBe('/templates?done=added')
  const list = await visitor.get('/templates')
  expect(list.text).toContain('ReminderDear {name}, {sum} is duename, sumUse Reminder')

  const used = await visitor.get('/send?template=1&to=27820000001')
  expect(used.html.querySelector('#field-text')?.textContent).toBe(reminder.text)
  expect(used.html.querySelector('#field-numbers')?.textContent).toBe('27820000001')
  expect(used.html.querySelector('option[selected]')?.textContent).toBe('Reminder')

  const changed = await visitor.submit('/templates/1', { name: 'First reminder', text: 'Hello {name}' })
  expect(changed.to).toBe('/templates?done=changed')
  expect((await visitor.get('/templates')).text).toContain('First reminderHello {name}name')
  const removed = await visitor.submit('/templates/1', {}, 'form:has([value="remove"])')
  expect(removed.to).toBe('/templates?done=removed')
  expect((await visitor.get('/templates/1')).status).toBe(404)
  expect((await visitor.get('/send?template=1')).html.querySelector('#field-text')?.textContent).toBe('')
})

test.each([
  ['no name', { name: ' ', text: 'Hello' }, 'Enter a name'],
  ['a long name', { name: 'x'.repeat(61), text: 'Hello' }, 'A name has up to 60 characters.'],
  ['no text', { name: 'x', text: ' ' }, 'Enter a text.'],
  ['a long text', { name: 'x', text: 'x'.repeat(919) }, 'The text is too long'],
  ['a name that another one has', { name: 'Taken', text: 'x' }, 'You already have a template with this name.'],
])('with %s nothing is stored and the error is shown', async (_what, fields, problem) => {
  await visitor.submit('/templates', { name: 'Taken', text: 'Hello' })
  const before = await portal.gateway.queries.listTemplates(portal.account)
  const shown = await visitor.submit('/templates', fields)
  expect([shown.status, shown.text]).toEqual([422, expect.stringContaining(problem)])
  expect(await portal.gateway.queries.listTemplates(portal.account)).toEqual(before)
})

test('templates of another account cannot be seen', async () => {
  const other = await aHolder(portal.ports, { login: 'other' })
  const id = await portal.gateway.commands.addTemplate(other, { name: 'secret', text: 'Theirs' })
  expect((await visitor.get(`/templates/${id}`)).status).toBe(404)
  expect((await visitor.get(`/send?template=${id}`)).text).not.toContain('Theirs')
  await visitor.submit('/templates', { name: 'Mine', text: 'Mine' })
  const page = await visitor.get('/templates')
  const token = page.html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
  for (const action of ['remove', 'change']) await visitor.post(`/templates/${id}`, { token, do: action, ...reminder })
  expect(await portal.gateway.queries.listTemplates(other)).toEqual([{ id, name: 'secret', text: 'Theirs' }])
})

test('a text with fields to typed numbers warns that the fields stay unchanged', async () => {
  const { to = '' } = await visitor.submit('/send', { ...reminder, numbers: '27820000001' })
  const check = await visitor.get(to)
  expect(check.text).toContain('The text has {name}, {sum}, which is sent unchanged: only the columns of a file')
})
