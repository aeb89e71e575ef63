import { createBackOffice, createGateway } from '@gateway/core'
import { anAccount, arrive, assign } from '@gateway/core/testing'
import { startRest, type Rest } from '../../../testing/start-rest.ts'

let rest: Rest
beforeEach(async () => {
  rest = await startRest()
})
afterEach(() => rest.close())

const path = '/shortcode/incoming'
const fields = async (query = '') => /"statusCode":200,(.*)\}$/.exec((await rest.get(`${path}${query}`)).text)?.[1]

test('an item is a message to a code, oldest first, with every field in the ruled order', async () => {
  await assign(rest.ports, rest.account, '40404')
  await arrive(rest.ports, '27825550101', 'one "1"', '40404')
  rest.clock.step(60)
  await arrive(rest.ports, 'INFO"', 'two', '40404')
  expect(await fields()).toBe(
    '"resultsOffset":0,"resultsLimit":100,"resultsTotalAvailable":2,"shortcodeMessages":[' +
      '{"incomingApiMessageId":1,"shortCode":"40404","mobileNumber":"27825550101","receiveTime":"202610181000","messageText":"one \\"1\\""},' +
      '{"incomingApiMessageId":2,"shortCode":"40404","mobileNumber":"INFO\\"","receiveTime":"202610181001","messageText":"two"}]',
  )
  await createGateway(rest.ports).commands.takeShortCodeMessages(rest.account)
  expect(await fields('?offset=1&limit=7')).toContain('"resultsLimit":7,"resultsTotalAvailable":2,')
})

test('messages to the code of another account are not listed; a locked account can read its own', async () => {
  const sub = await anAccount(rest.ports, { parent: rest.account.id })
  await assign(rest.ports, sub, '50505')
  await arrive(rest.ports, '27825550101', 'hello', '50505')
  await createBackOffice(rest.ports).commands.lockAccount(rest.account.id)
  expect(await fields()).toContain('"resultsTotalAvailable":0,')
})

test('messages are listed for exactly 90 days', async () => {
  await assign(rest.ports, rest.account, '40404')
  await arrive(rest.ports, '27825550101', 'hello', '40404')
  rest.clock.step(90 * 86_400)
  expect(await fields()).toContain('"resultsTotalAvailable":1,')
  rest.clock.step(1)
  expect(await fields()).toContain('"resultsTotalAvailable":0,')
})
