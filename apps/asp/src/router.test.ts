import { createBackOffice, createGateway } from '@gateway/core'
import { anAccount, memoryPorts, steppingClock } from '@gateway/core/testing'
import { admissionGate, createLog, confirmedResponses } from '@gateway/server'
import express, { type RequestHandler } from 'express'
import request from 'supertest'
import { aspNotFound, aspRouter } from './index.ts'
import { describeMalformed } from './routes.ts'

const log = createLog({ level: 'silent', name: 'test' })

/** Mounts the router in another Express app, after body parsers. */
const mountedAt = async (prefix: string, ...before: RequestHandler[]) => {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const account = await anAccount(ports)
  const issued = await createBackOffice(ports).commands.issueApiKey(account.id)
  if (typeof issued === 'string') throw new Error(issued)
  const settings = { clock, gate: admissionGate(10), log, confirmedResponses: confirmedResponses({ log }) }
  const app = express()
  for (const handler of before) app.use(handler)
  app.use(prefix, aspRouter(createGateway(ports), settings))
  app.get(`${prefix}/own.asp`, (_request, response) => void response.send('own'))
  app.use('/closed', aspNotFound(settings))
  app.use((_request, response) => void response.status(404).send('their 404'))
  return { app, key: issued.key, closed: settings }
}

const readers: readonly [string, RequestHandler | undefined][] = [
  ['nothing', undefined],
  ['express.urlencoded()', express.urlencoded()],
  ['express.urlencoded({ extended: false })', express.urlencoded({ extended: false })],
  ['express.raw()', express.raw({ type: '*/*' })],
  ['express.text()', express.text({ type: '*/*' })],
  ['express.json()', express.json()],
]

test.each(readers)(
  'behind %s, a form is read, at any prefix and in any letter case of its paths',
  async (_what, reader) => {
    for (const prefix of ['', '/legacy']) {
      const { app, key } = await mountedAt(prefix, ...(reader ? [reader] : []))
      const post = (form: string) => request(app).post(`${prefix}/BatchMessage.asp`).type('form').send(form)
      const sent = await post(`apikey=${key}&message=caf%C3%A9+%26&numbers=27825550101&Numbers=x%3By`)
      expect(sent.text).toBe('27825550101=1&x=BADDEST&y=BADDEST&')
      expect((await post('')).text).toBe('FAIL&')
      expect((await post(`apikey=${key}&message=x`.padEnd(65_537, 'x'))).status).toBe(413)
    }
  },
)

test('other paths pass to the next handler, and the 404 of the interface is a separate handler', async () => {
  const { app } = await mountedAt('/legacy', express.json())
  const of = async (path: string) => (await request(app).get(path)).text
  expect(await of('/legacy/own.asp')).toBe('own')
  expect(await of('/legacy/auth.asp/')).toBe('their 404')
  expect(await of('/closed/nothing.asp')).toBe('Not found')
})

test.each([
  ['/api/auth.asp', 'text/plain; charset=utf-8', 'Error="It is too large."'],
  ['/api/xmlgetreplies.asp', 'text/xml; charset=utf-8', '<Error>It is too large.</Error>'],
  ['/api/rest/v1/sms/outgoing/send', 'application/json; charset=utf-8', '"errorCode":"headers-too-large"'],
])('a request to %s that HTTP refuses is answered in the form of its interface', (path, contentType, body) => {
  const answer = describeMalformed(memoryPorts().clock)({
    status: 431,
    reason: 'It is too large.',
    method: 'GET',
    path,
  })
  expect(answer).toMatchObject({ status: 431, contentType, body: expect.stringContaining(body) as string })
})
