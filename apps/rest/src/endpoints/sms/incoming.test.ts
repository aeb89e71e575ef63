import { createBackOffice, createGateway } from '@gateway/core'
import { anAccount, arrive, assign, write } from '@gateway/core/testing'
import request from 'supertest'
import { startRest, type Rest } from '../../../testing/start-rest.ts'

let rest: Rest
beforeEach(async () => {
  rest = await startRest()
})
afterEach(() => rest.close())

const path = '/sms/incoming'
const person = '27825550101'
const listed = async (query = '') => {
  const answer = await rest.get(`${path}${query}`)
  const { resultsTotalAvailable: total, incomingMessages } = answer.body as {
    resultsTotalAvailable: number
    incomingMessages: readonly { messageText: string }[]
  }
  return { total, texts: incomingMessages.map(({ messageText }) => messageText) }
}

test('an item is a reply, oldest first, with every field in the ruled order', async () => {
  await write(rest.ports, rest.account, person, '27825550102')
  await arrive(rest.ports, '27825550102', 'Yes "please"')
  rest.clock.step(14 * 3600 - 1)
  await arrive(rest.ports, `+${person}`, 'STOP')
  const answer = await rest.get(path)
  expect(answer.text).toBe(
    '{"timeStamp":"20261018235959000","version":"1.0","statusCode":200,"resultsOffset":0,"resultsLimit":100,"resultsTotalAvailable":2,"incomingMessages":[' +
      '{"incomingApiMessageId":1,"mobileNumber":"27825550102","receiveTime":"202610181000","messageText":"Yes \\"please\\"","outgoingApiMessageId":2},' +
      '{"incomingApiMessageId":2,"mobileNumber":"27825550101","receiveTime":"202610182359","messageText":"STOP","outgoingApiMessageId":1}]}',
  )
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
})

test('it consumes nothing, is not consumed, and leaves short code messages to their own list', async () => {
  await write(rest.ports, rest.account, person)
  await arrive(rest.ports, person, 'a reply')
  await assign(rest.ports, rest.account, '40404')
  await arrive(rest.ports, person, 'to the code', '40404')
  expect(await listed()).toEqual({ total: 1, texts: ['a reply'] })
  const taken = await createGateway(rest.ports).takeReplies(rest.account, 'with-short-codes')
  expect(taken.messages).toHaveLength(2)
  expect(await listed()).toEqual({ total: 1, texts: ['a reply'] })
})

test.each(['&;=%', 'one\r\ntwo', '\f\x01\x7f\u2028', '😀 é €', ']]></a>', '\ufffe', '"},{"', ''])(
  'the text %j comes as it is',
  async (text) => {
    await write(rest.ports, rest.account, person)
    await arrive(rest.ports, person, text)
    expect(await listed()).toEqual({ total: 1, texts: [text] })
  },
)

test('offset and limit cut a piece; the total is that of all, and the first 100 come if nothing is asked for', async () => {
  await write(rest.ports, rest.account, person)
  const texts = Array.from({ length: 105 }, (_, i) => `${i}`)
  await arrive(rest.ports, person, texts)
  expect(await listed()).toEqual({ total: 105, texts: texts.slice(0, 100) })
  expect(await listed('?offset=103&limit=1000')).toEqual({ total: 105, texts: ['103', '104'] })
  expect(await listed('?limit=1')).toEqual({ total: 105, texts: ['0'] })
  expect(await listed('?offset=105')).toEqual({ total: 105, texts: [] })
})

test.each(['?offset=-1', '?offset=x', '?offset=', '?limit=0', '?limit=1001'])('%s is 422', async (query) => {
  expect((await rest.get(`${path}${query}`)).status).toBe(422)
})

test('90 days to the second', async () => {
  await write(rest.ports, rest.account, person)
  await arrive(rest.ports, person, 'old')
  rest.clock.step(1)
  await arrive(rest.ports, person, 'young')
  rest.clock.step(90 * 86_400)
  expect(await listed()).toEqual({ total: 1, texts: ['young'] })
})

test('nothing of another account is in it, be it a sub account', async () => {
  const sub = await anAccount(rest.ports, { parent: rest.account.id })
  await write(rest.ports, sub, person)
  await arrive(rest.ports, person, 'hello')
  expect(await listed()).toEqual({ total: 0, texts: [] })
})

test('a locked account reads it; HEAD, OPTIONS and POST are 405', async () => {
  await write(rest.ports, rest.account, person)
  await arrive(rest.ports, person, 'hello')
  await createBackOffice(rest.ports).lockAccount(rest.account.id)
  expect((await listed()).total).toBe(1)
  const url = `/api/rest/v1${path}`
  expect((await request(rest.url).head(url).set('Authorization', rest.key)).status).toBe(405)
  expect((await request(rest.url).options(url).set('Authorization', rest.key)).status).toBe(405)
  expect((await rest.post(path, {})).status).toBe(405)
})

test('the database in trouble is 503 with the envelope and not an empty list', async () => {
  const broken = await startRest({
    gateway: (gateway) => ({ ...gateway, listReplies: () => Promise.reject(new Error('lost')) }),
  })
  expect((await broken.get(path)).body).toMatchObject({ statusCode: 503 })
  await broken.close()
})
