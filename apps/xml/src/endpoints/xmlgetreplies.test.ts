import { createBackOffice } from '@gateway/core'
import { anAccount, arrive, write } from '@gateway/core/testing'
import { answer, serveXml, type Served } from '../../testing/serve-xml.ts'
import { areWellFormed } from '../../testing/validate.ts'

const root = 'XMLGateway_Replies'
const path = '/api/xmlgetreplies.asp'
const person = '27825550101'
const asking = ({ key }: Served) => `<Svc_Replies><ApiKey>${key}</ApiKey><User/><Password/></Svc_Replies>`
const takeReplies = async (served: Served) => (await served.post(path, asking(served))).text
const reply = (text: string, id: number | '' = 1, at = '202610181000', from = person) =>
  `<Reply><CLI>${from}</CLI><DateReceived>${at}</DateReceived>` +
  (text === '' ? '<Message/>' : `<Message>${text}</Message>`) +
  `${id === '' ? '<SentMessageID/>' : `<SentMessageID>${id}</SentMessageID>`}</Reply>`

test.each([
  ['a & b <c> ]]> "d"', 'a &amp; b &lt;c&gt; ]]&gt; "d"'],
  ['page\fbreak\x01\x1f', 'page break  '],
  ['one\r\ntwo\tthree', 'one&#xD;\ntwo\tthree'],
  ['é 😀 €', 'é 😀 €'],
  ['\ufffe\uffff nul\0.', '   nul\ufffd.'],
  ['padded\0\0', 'padded'],
  ['', ''],
])('the text %j is returned as %j, in a document that other parsers can read', async (text, written) => {
  const served = await serveXml()
  await write(served.ports, served.account, person)
  await arrive(served.ports, person, text)
  const document = await takeReplies(served)
  expect(document).toBe(answer(root, reply(written)))
  expect(await areWellFormed([document])).toEqual([true])
})

test('replies are returned for exactly 90 days, only those of the account, and also to a locked account', async () => {
  const served = await serveXml()
  const sub = await anAccount(served.ports, { parent: served.account.id })
  await write(served.ports, sub, '27825550102')
  await arrive(served.ports, '27825550102', 'to another')
  await write(served.ports, served.account, person)
  await arrive(served.ports, person, 'old')
  served.clock.step(1)
  await arrive(served.ports, person, 'young')
  served.clock.step(90 * 86_400)
  await createBackOffice(served.ports).commands.lockAccount(served.account.id)
  expect(await takeReplies(served)).toBe(answer(root, reply('young', 2)))
})
