import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { Worker } from 'node:worker_threads'
import type { Case } from './case.ts'
import type { Configuration } from './configuration.ts'
import { countsOf, junitReport, textReport } from './report.ts'
import { runCases } from './run-suite.ts'
import type { Deployment } from './tested-gateway.ts'
import { until } from './verbs.ts'

const keyed = { id: 1, key: 'k' }
const configuration: Configuration = {
  accounts: {
    main: { ...keyed, user: 'u', password: 'p' },
    sub: { ...keyed, login: 's' },
    otherSub: keyed,
    stranger: keyed,
  },
  numbers: { delivered: ['436600000000'], price: 1 },
}

const deploymentAt = (port: number): Deployment => {
  const address = new URL(`http://127.0.0.1:${port}`)
  const ownNumber = () => '436600000000'
  return { addresses: { rest: address, asp: address, xml: address }, configuration, bringReply: undefined, ownNumber }
}

const asCase = (title: string, run: Case['run']): Case => ({ of: ['2.9'], title, run })

/** Blocks this process, as on a starved machine. */
const starve = (milliseconds: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

/**
 * Gateway in a thread of its own. It delivers a message one second after the send, and forgets the message a second
 * later.
 */
const correctGateway = `
  const { createServer } = require('node:http')
  let sent = 0
  const server = createServer((request, response) => {
    if (request.url === '/send') sent = Date.now()
    const age = Date.now() - sent
    response.end(request.url === '/send' ? 'sent' : age < 1000 ? 'waiting' : age < 2500 ? 'delivered' : 'gone')
  })
  server.listen(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(server.address().port))
`

async function startGateway() {
  const worker = new Worker(correctGateway, { eval: true })
  const [port] = (await once(worker, 'message')) as [number]
  return { deployment: deploymentAt(port), stop: () => worker.terminate() }
}

const seesDelivery =
  (meanwhile: () => void): Case['run'] =>
  async (gateway) => {
    await gateway.raw('rest', { target: '/send' })
    meanwhile()
    const look = async () => {
      const { text } = await gateway.raw('rest', { target: '/status' })
      if (text === 'gone') throw new Error('the message is gone')
      return text === 'delivered' ? text : undefined
    }
    await until(2, 'a delivered message', look)
  }

test('a case that fails once on a starved machine is repeated, and passes', async () => {
  const { deployment, stop } = await startGateway()
  let runs = 0
  const [result] = await runCases(
    [
      asCase(
        'delivered',
        seesDelivery(() => runs++ === 0 && starve(3000)),
      ),
    ],
    deployment,
  )
  await stop()
  expect([result?.outcome, runs]).toEqual([{ is: 'passed' }, 2])
})

test('a case that fails on a machine that stays starved is not judged, and never counts as a failure', async () => {
  const { deployment, stop } = await startGateway()
  const results = await runCases(
    [
      asCase(
        'delivered',
        seesDelivery(() => starve(3000)),
      ),
    ],
    deployment,
  )
  await stop()
  expect(countsOf(results)).toEqual({ passed: 0, failed: 0, 'not testable': 0, 'not judged': 1 })
  const summary = { addresses: { rest: '', asp: '', xml: '' }, seconds: 9, creditsSpent: 0, results, elsewhere: [] }
  expect(textReport(summary)).toMatch(
    /^not judged: 2\.9: delivered: this machine was busy: it held up the suite for \d+\.\d of \d\.\d s$/m,
  )
  expect(textReport(summary)).toContain('0 passed, 0 failed, 0 not testable here, 1 not judged because this machine')
  expect(junitReport(summary)).toContain('failures="0" skipped="1"')
}, 20_000)

test('time in which the process did not run does not count towards a deadline', async () => {
  const { deployment, stop } = await startGateway()
  const look = () => {
    starve(300)
    return Promise.resolve(undefined)
  }
  const late = until(1, 'nothing', look).catch((problem: unknown) => (problem as Error).message)
  const begun = performance.now()
  await expect(late).resolves.toBe('not observed within 1 s: nothing')
  expect(performance.now() - begun).toBeGreaterThan(2500)
  await stop()
  expect(deployment.bringReply).toBeUndefined()
}, 20_000)

test('a gateway that delivers too late is detected on a machine that is not busy', async () => {
  const slow: RequestListener = (_, response) => void setTimeout(() => response.end('waiting'), 200)
  const server = createServer(slow).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const [result] = await runCases(
    [
      asCase(
        'delivered',
        seesDelivery(() => undefined),
      ),
    ],
    deploymentAt(port),
  )
  server.close()
  expect(result?.outcome).toMatchObject({ is: 'failed', why: 'not observed within 2 s: a delivered message' })
})
