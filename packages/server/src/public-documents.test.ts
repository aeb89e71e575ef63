import { once } from 'node:events'
import { connect } from 'node:net'
import supertest from 'supertest'
import { memoryLog } from '../testing/memory-log.ts'
import { admissionGate } from './admission/admission-gate.ts'
import { createServiceApp } from './express-app.ts'
import { listen } from './listen.ts'
import { createMetrics } from './metrics.ts'
import { publicDocuments, type PublicDocuments } from './public-documents.ts'

const anApp = () => {
  let reads = 0
  const documents: PublicDocuments = new Map([
    ['/docs/', { type: 'html', read: () => `<p>read ${++reads}</p>` }],
    ['/docs/large', { type: 'text/plain', read: () => 'x'.repeat(1_000_000) }],
    ['/docs/bytes', { type: 'application/octet-stream', read: () => Buffer.from([0xff, 0]) }],
  ])
  const metrics = createMetrics()
  const app = createServiceApp({
    ...memoryLog(),
    metrics,
    service: 'demo',
    documents: publicDocuments(documents, admissionGate(10)),
    notFound: (_request, response) => void response.status(404).send('not found'),
    answerError: (_request, response, status) => void response.status(status).send('failed'),
  })
  return { app, metrics }
}

test('a document is read once and served with its type and the headers of a page', async () => {
  const { app } = anApp()
  for (let i = 0; i < 2; i++) {
    const { status, text, headers } = await supertest(app).get('/docs/?x=1')
    expect([status, text]).toEqual([200, '<p>read 1</p>'])
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'max-age=300',
      'x-content-type-options': 'nosniff',
    })
  }
  const bytes = await supertest(app).get('/docs/bytes')
  expect([bytes.body, bytes.headers['content-type']]).toEqual([Buffer.from([0xff, 0]), 'application/octet-stream'])
})

test('a page may load nothing from another host', async () => {
  const { headers } = await supertest(anApp().app).get('/docs/')
  const policy = String(headers['content-security-policy'])
  expect(policy).toContain("default-src 'self'")
  expect(policy).not.toMatch(/https?:|\*|ws:/)
})

test('HEAD has the headers and no body; other methods and other paths are not found', async () => {
  const { app } = anApp()
  const head = await supertest(app).head('/docs/')
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, undefined, '13'])
  expect((await supertest(app).post('/docs/')).status).toBe(404)
  for (const path of ['/docs/bytes/', '/Docs/', '/docs/x', '/docs/../docs/bytes2', '/docs/__proto__']) {
    expect((await supertest(app).get(path)).status).toBe(404)
  }
})

test('a folder without its slash is redirected, under any prefix of a proxy', async () => {
  const { status, headers } = await supertest(anApp().app).get('/docs')
  expect([status, headers['location']]).toEqual([308, 'docs/'])
})

test('a large document arrives completely, and a reader that disconnects blocks nobody', async () => {
  const server = await listen({ app: anApp().app, host: '127.0.0.1', port: 0, log: memoryLog().log })
  const gone = connect(server.port, '127.0.0.1', () => gone.write('GET /docs/large HTTP/1.1\r\nHost: x\r\n\r\n'))
  await once(gone, 'data')
  gone.destroy()
  const answer = await fetch(`${server.url}/docs/large`)
  expect([(await answer.text()).length, answer.headers.get('content-length')]).toEqual([1_000_000, '1000000'])
  await server.close()
})

test('each document is measured by its path', async () => {
  const { app, metrics } = anApp()
  await supertest(app).get('/docs/bytes')
  expect(await metrics.registry.metrics()).toMatch(/_count\{service="demo",method="GET",endpoint="\/docs\/bytes"/)
})
