import { createBackOffice, createGateway } from '@gateway/core'
import { anAccount, memoryPorts, steppingClock } from '@gateway/core/testing'
import { admissionGate, createLog, confirmedResponses } from '@gateway/server'
import express, { type RequestHandler } from 'express'
import request from 'supertest'
import { errorIn } from '../testing/serve-xml.ts'
import { xmlNotFound, xmlRouter } from './index.ts'
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
  app.use(prefix, xmlRouter(createGateway(ports), settings))
  app.get(`${prefix}/own.asp`, (_request, response) => void response.send('own'))
  app.use('/closed', xmlNotFound(settings))
  app.use((_request, response) => void response.status(404).send('their 404'))
  return { app, key: issued.key }
}

const readers: readonly [string, RequestHandler | undefined][] = [
  ['nothing', undefined],
  ['express.json()', express.json()],
  ['express.raw()', express.raw({ type: '*/*' })],
  ['express.text()', express.text({ type: '*/*' })],
]

test.each(readers)(
  'behind %s, a document is read, at any prefix and in any letter case of its paths',
  async (_what, reader) => {
    for (const prefix of ['', '/legacy']) {
      const { app, key } = await mountedAt(prefix, ...(reader ? [reader] : []))
      const document = `<Svc_Multi_Message><ApiKey>${key}</ApiKey><Messages><Message><MessageText>caf%C3%A9</MessageText><Numbers><Number>27825550101</Number></Numbers></Message></Messages></Svc_Multi_Message>`
      const { text } = await request(app).post(`${prefix}/XmlSendSmsMulti.asp`).type('text/xml').send(document)
      expect(text).toContain('<ID>1</ID>')
    }
  },
)

test('a body that was parsed as another type is not valid', async () => {
  const { app } = await mountedAt('/api', express.json())
  const { status, text } = await request(app).post('/api/xmlgetstatus.asp').send({ apikey: 'x' })
  expect([status, text]).toEqual([200, errorIn('XMLGatewayStatus_Response', 'Not Valid XML Document')])
})

test('other paths pass to the next handler, and the 404 of the interface is a separate handler', async () => {
  const { app } = await mountedAt('/legacy', express.json())
  const of = async (path: string) => (await request(app).get(path)).text
  expect(await of('/legacy/own.asp')).toBe('own')
  expect(await of('/legacy/xmlnothing.asp')).toBe('their 404')
  expect(await of('/closed/xmlnothing.asp')).toBe('Not found')
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
