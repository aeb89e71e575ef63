import { anAddress, arrive, assign, write } from '@gateway/core/testing'
import request from 'supertest'
import { startAsp, type Asp } from '../../testing/start-asp.ts'

let asp: Asp
beforeEach(async () => {
  asp = await startAsp()
})
afterEach(() => asp.close())

const person = '27825550101'
const takeReplies = async (query = '') => (await asp.get('httpgetreplies.asp', query)).text
const reply = (text: string, id: number | '' = 1, from = person, at = '202610181000') =>
  `CLI=${from};DateReceived=${at};Message=${text};SentMessageID=${id}&`

test.each([
  ['a&b=c;d%e', 'a%26b%3Dc%3Bd%25e'],
  ['x;SentMessageID=9&CLI=1', 'x%3BSentMessageID%3D9%26CLI%3D1'],
  ['one\r\ntwo\nthree\ttabbed', 'one%0D%0Atwo%0Athree%09tabbed'],
  ['page\fbreak\x1b\x7f\x85', 'page%0Cbreak%1B%7F%C2%85'],
  ['é 😀 €[]{}~ + "quoted" <b>', 'é 😀 €[]{}~ + "quoted" <b>'],
  [']]>\ufffe\u2028', ']]>\ufffe\u2028'],
  ['nul\0 half\ud83d', 'nul\ufffd half\ufffd'],
  ['', ''],
])('the text %j is written as %j', async (text, written) => {
  await write(asp.ports, asp.account, person)
  await arrive(asp.ports, person, text)
  expect(await takeReplies()).toBe(reply(written))
})

test.each(['\r\n', '\n'])(
  'excludesc=true with %j at the end of the form consumes no short code message',
  async (end) => {
    await assign(asp.ports, asp.account, '40404')
    await arrive(asp.ports, person, 'to the code', '40404')
    const form = `apikey=${asp.key}&excludesc=true${end}`
    const answer = await request(asp.url).post('/api/httpgetreplies.asp').type('form').send(form)
    expect([answer.status, answer.text]).toEqual([200, ''])
    expect(await takeReplies()).toContain('Message=to the code;')
  },
)

test('a sender that is not a number cannot forge a pair either', async () => {
  await assign(asp.ports, asp.account, '40404')
  await arrive(asp.ports, 'A;B=C&D', 'hello', '40404')
  expect(await takeReplies()).toBe(reply('hello', '', 'A%3BB%3DC%26D'))
})

describe('messages to the short code', () => {
  beforeEach(async () => {
    await assign(asp.ports, asp.account, '40404')
    await write(asp.ports, asp.account, person)
    await arrive(asp.ports, person, 'answer', '40404')
    await arrive(asp.ports, '27825550109', 'first contact', '40404')
  })

  test.each(['true', 'TRUE', 'True', '1'])('are omitted with excludesc=%s, and are not consumed', async (value) => {
    expect(await takeReplies(`excludesc=${value}`)).toBe('')
    expect(await takeReplies(`EXCLUDESC=${value}`)).toBe('')
    expect((await asp.get('httpgetscmessages.asp')).text).toContain('first contact')
  })

  test.each(['', 'false', '0', 'yes', 'true%20', '%00true', '2'])(
    'are not left out with excludesc=%s',
    async (value) => {
      expect(await takeReplies(`excludesc=${value}`)).toContain('first contact')
    },
  )

  test('do not affect other replies with excludesc, each of which is returned once', async () => {
    await asp.ports.senders.release(anAddress('40404'))
    await write(asp.ports, asp.account, '27825550103')
    await arrive(asp.ports, '27825550103', 'other')
    expect(await takeReplies('excludesc=true')).toBe(reply('other', 2, '27825550103'))
    expect(await takeReplies()).not.toContain('other')
  })
})

test('replies are returned for exactly 90 days', async () => {
  await write(asp.ports, asp.account, person)
  await arrive(asp.ports, person, 'old')
  asp.clock.step(1)
  await arrive(asp.ports, person, 'young')
  asp.clock.step(90 * 86_400)
  expect(await takeReplies()).toBe(reply('young'))
})

test('a failing database leads to 503 and not to an empty list', async () => {
  const broken = await startAsp({
    gateway: (gateway) => ({
      ...gateway,
      commands: { ...gateway.commands, takeReplies: () => Promise.reject(new Error('lost')) },
    }),
  })
  const answer = await broken.get('httpgetreplies.asp')
  expect([answer.status, answer.text]).toEqual([503, 'Error="Service unavailable"'])
  await broken.close()
})
