import { createBackOffice } from '@gateway/core'
import { anAccount, arrive, assign, write } from '@gateway/core/testing'
import request from 'supertest'
import { startAsp, type Asp } from '../../testing/start-asp.ts'

let asp: Asp
beforeEach(async () => {
  asp = await startAsp()
  await assign(asp.ports, asp.account, '40404')
})
afterEach(() => asp.close())

const person = '27825550101'
const taken = async () => (await asp.get('httpgetscmessages.asp')).text
const message = (text: string, at = '202610181000', code = '40404') =>
  `SC=${code};CLI=${person};DateReceived=${at};Message=${text}&`

test('each message to a code is returned once, oldest first, with its four pairs, and is then no reply either', async () => {
  await assign(asp.ports, asp.account, '27600000001')
  await arrive(asp.ports, person, 'one', '40404')
  asp.clock.step(60)
  await arrive(asp.ports, person, 'two', '+27600000001')
  expect(await taken()).toBe(message('one') + message('two', '202610181001', '27600000001'))
  expect(await taken()).toBe('')
  expect((await asp.get('httpgetreplies.asp')).text).toBe('')
})

test('what would break the format is percent-encoded', async () => {
  await arrive(asp.ports, person, 'a&SC=1;b%\r\n\f😀', '40404')
  expect(await taken()).toBe(message('a%26SC%3D1%3Bb%25%0D%0A%0C😀'))
})

test('replies to other addresses are not in it, and an account without a code has none', async () => {
  const other = await anAccount(asp.ports)
  await write(asp.ports, other, person)
  await arrive(asp.ports, person, 'a reply')
  expect(await taken()).toBe('')
})

test('messages to the code of another account are not in it', async () => {
  const sub = await anAccount(asp.ports, { parent: asp.account.id })
  await assign(asp.ports, sub, '50505')
  await arrive(asp.ports, person, 'hello', '50505')
  expect(await taken()).toBe('')
})

test('90 days to the second', async () => {
  await arrive(asp.ports, person, 'old', '40404')
  asp.clock.step(1)
  await arrive(asp.ports, person, 'young', '40404')
  asp.clock.step(90 * 86_400)
  expect(await taken()).toBe(message('young'))
})

test('a locked account reads them; wrong credentials and HEAD consume nothing; a form body is read like a query', async () => {
  await arrive(asp.ports, person, 'hello', '40404')
  await createBackOffice(asp.ports).lockAccount(asp.account.id)
  const path = '/api/httpgetscmessages.asp'
  expect((await request(asp.url).get(`${path}?apikey=wrong`)).text).toBe('FAIL&')
  expect((await request(asp.url).head(`${path}?apikey=${asp.key}`)).status).toBe(405)
  const posted = await request(asp.url).post(path).type('form').send(`apikey=${asp.key}`)
  expect(posted.text).toBe(message('hello'))
})
