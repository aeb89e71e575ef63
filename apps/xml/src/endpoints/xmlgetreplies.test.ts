import { createBackOffice, createGateway } from '@gateway/core'
import { anAccount, arrive, assign, write } from '@gateway/core/testing'
import request from 'supertest'
import { answer, errorIn, serveXml, type Served } from '../../testing/serve-xml.ts'
import { areWellFormed } from '../../testing/validate.ts'

const root = 'XMLGateway_Replies'
const path = '/api/xmlgetreplies.asp'
const person = '27825550101'
const asking = ({ key }: Served) => `<Svc_Replies><ApiKey>${key}</ApiKey><User/><Password/></Svc_Replies>`
const taken = async (served: Served) => (await served.post(path, asking(served))).text
const reply = (text: string, id: number | '' = 1, at = '202610181000', from = person) =>
  `<Reply><CLI>${from}</CLI><DateReceived>${at}</DateReceived>` +
  (text === '' ? '<Message/>' : `<Message>${text}</Message>`) +
  `${id === '' ? '<SentMessageID/>' : `<SentMessageID>${id}</SentMessageID>`}</Reply>`

test.each<[string, string, string]>([
  ['no document, before credentials', '<Svc_Replies', 'Not Valid XML Document'],
  ['another root, before credentials', '<Svc_StatusRequest/>', 'Not Valid XML Document'],
  ['wrong credentials', '<Svc_Replies><ApiKey>wrong</ApiKey></Svc_Replies>', 'Authentication failed'],
])('%s: an error, and nothing is consumed', async (_, document, error) => {
  const served = await serveXml()
  await write(served.ports, served.account, person)
  await arrive(served.ports, person, 'hello')
  const answered = await served.post(path, document)
  expect([answered.status, answered.text]).toEqual([200, errorIn(root, error)])
  expect((await request(served.app).get(path)).status).toBe(405)
  expect((await request(served.app).head(path)).status).toBe(405)
  expect(await taken(served)).toBe(answer(root, reply('hello')))
})

test('each reply is returned once, oldest first; one that answers nothing has an empty SentMessageID', async () => {
  const served = await serveXml()
  await write(served.ports, served.account, person)
  await arrive(served.ports, person, 'STOP')
  served.clock.step(60)
  await assign(served.ports, served.account, '40404')
  await arrive(served.ports, '27825550102', 'first contact', '40404')
  const answered = await served.post(path, asking(served))
  expect(answered.text).toBe(answer(root, reply('STOP') + reply('first contact', '', '202610181001', '27825550102')))
  expect(answered.headers).toMatchObject({
    'content-type': 'text/xml; charset=utf-8',
    'content-length': String(Buffer.byteLength(answered.text)),
    'cache-control': 'no-store',
  })
  expect(await taken(served)).toBe(answer(root))
})

test.each([
  ['a & b <c> ]]> "d"', 'a &amp; b &lt;c&gt; ]]&gt; "d"'],
  ['page\fbreak\x01\x1f', 'page break  '],
  ['one\r\ntwo\tthree', 'one&#xD;\ntwo\tthree'],
  ['é 😀 €', 'é 😀 €'],
  ['\ufffe\uffff nul\0.', '   nul\ufffd.'],
  ['padded\0\0', 'padded'],
  ['', ''],
])('the text %j is %j, in a document that others can read', async (text, written) => {
  const served = await serveXml()
  await write(served.ports, served.account, person)
  await arrive(served.ports, person, text)
  const document = await taken(served)
  expect(document).toBe(answer(root, reply(written)))
  expect(await areWellFormed([document])).toEqual([true])
})

test('what another call has returned is not returned again, and what it returns no other does', async () => {
  const served = await serveXml()
  const gateway = createGateway(served.ports)
  await write(served.ports, served.account, person)
  await arrive(served.ports, person, 'one')
  expect((await gateway.takeReplies(served.account, 'with-short-codes')).messages).toHaveLength(1)
  expect(await taken(served)).toBe(answer(root))
  await arrive(served.ports, person, 'two')
  expect(await taken(served)).toBe(answer(root, reply('two')))
  expect((await gateway.takeReplies(served.account, 'with-short-codes')).messages).toEqual([])
})

test('90 days to the second; nothing of another account; a locked account reads it', async () => {
  const served = await serveXml()
  const sub = await anAccount(served.ports, { parent: served.account.id })
  await write(served.ports, sub, '27825550102')
  await arrive(served.ports, '27825550102', 'to another')
  await write(served.ports, served.account, person)
  await arrive(served.ports, person, 'old')
  served.clock.step(1)
  await arrive(served.ports, person, 'young')
  served.clock.step(90 * 86_400)
  await createBackOffice(served.ports).lockAccount(served.account.id)
  expect(await taken(served)).toBe(answer(root, reply('young', 2)))
})
