import { arrive, assign } from '@gateway/core/testing'
import { startAsp, type Asp } from '../../testing/start-asp.ts'

let asp: Asp
beforeEach(async () => {
  asp = await startAsp()
  await assign(asp.ports, asp.account, '40404')
})
afterEach(() => asp.close())

const person = '27825550101'
const takeMessages = async () => (await asp.get('httpgetscmessages.asp')).text
const message = (text: string, at = '202610181000', code = '40404') =>
  `SC=${code};CLI=${person};DateReceived=${at};Message=${text}&`

test('characters that would break the format are percent-encoded', async () => {
  await arrive(asp.ports, person, 'a&SC=1;b%\r\n\f😀', '40404')
  expect(await takeMessages()).toBe(message('a%26SC%3D1%3Bb%25%0D%0A%0C😀'))
})

test('messages are returned for exactly 90 days', async () => {
  await arrive(asp.ports, person, 'old', '40404')
  asp.clock.step(1)
  await arrive(asp.ports, person, 'young', '40404')
  asp.clock.step(90 * 86_400)
  expect(await takeMessages()).toBe(message('young'))
})
