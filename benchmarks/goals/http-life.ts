import { writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Benchmark } from '../benchmark.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import { inRounds } from '../environment/rounds.ts'
import { startHttpProvider, startSmsc } from '../environment/smsc.ts'
import { costFigures } from '../figures/costs.ts'
import { ratios } from '../figures/spread.ts'
import type { Worker } from '../loads/workers.ts'
import { perSecondOf } from './accepting.ts'
import { openSide } from './smpp-living.ts'

const window = 50

/** One carrier over HTTP compared with one SMPP bind, and with an HTTP client that stores nothing. */
export const httpLife: Benchmark = {
  name: 'http-life',
  title: 'REST sends of 1000, accepted to DELIVERED over one carrier over HTTP beside a bare undici client',
  goals: [],
  runs: 'in full runs',
  run: async (environment) => {
    const { quick } = environment
    const provider = await startHttpProvider('twilio', ['receiptDelay=0', 'faultsByNumber=false'])
    const smsc = await startSmsc(['receiptDelay=0'], ['--delivery-window', '1000'])
    const http = await openHttpSide(environment, `http://127.0.0.1:${provider.port}`)
    const smpp = await openSide(environment, `smpp://gateway:pa55w0rd@127.0.0.1:${smsc.port}?window=${window}`)
    const worker = environment.worker()
    const all = quick ? 5000 : 20_000
    const many = (warmUp: boolean): number => (warmUp ? 2000 : all)
    const providerCosts: number[] = []

    const rounds = await inRounds(quick ? 3 : 5, {
      bare: (warmUp) => livingBarely(worker, provider.port, many(warmUp)),
      http: async (warmUp) => {
        const before = await provider.cpu()
        const round = await http.live(worker, many(warmUp), 1000)
        if (!warmUp) providerCosts.push(((await provider.cpu()) - before) / round.count)
        return round
      },
      smpp: (warmUp) => smpp.live(worker, many(warmUp), 1000),
    })
    await Promise.all([http.dispatcher.stop(), smpp.dispatcher.stop()])
    await Promise.all([provider.stop(), smsc.stop()])
    return {
      figures: [
        {
          name: 'messages over HTTP beside a bare undici client',
          unit: '',
          rounds: ratios(perSecondOf(rounds.http), perSecondOf(rounds.bare)),
          better: 'more',
          goal: { row: 'scale', is: 'at least', value: 0.4 },
        },
        {
          name: 'messages over HTTP beside one SMPP bind',
          unit: '',
          rounds: ratios(perSecondOf(rounds.http), perSecondOf(rounds.smpp)),
          better: 'more',
        },
        { name: `over HTTP, ${all} a round`, unit: '/s', rounds: perSecondOf(rounds.http), better: 'more' },
        { name: 'by a bare undici client', unit: '/s', rounds: perSecondOf(rounds.bare) },
        { name: 'over one SMPP bind', unit: '/s', rounds: perSecondOf(rounds.smpp) },
        { name: 'CPU of gateway-http-provider a message', unit: 'µs', rounds: providerCosts },
        {
          name: 'CPU of the bare client a message',
          unit: 'µs',
          rounds: rounds.bare.map(({ cpu, count }) => cpu / count),
        },
        ...costFigures('message over HTTP', ['rest', 'dispatcher', 'callbacks'], rounds.http),
        ...costFigures('message over SMPP', ['rest', 'dispatcher'], rounds.smpp),
      ],
      notes: [
        `Window ${window}. Every message has a signed receipt, sent at once. The bare client answers receipts without reading them. The simulators are processes of their own on the same cores, without journals.`,
      ],
    }
  },
}

async function livingBarely(worker: Worker, port: number, messages: number) {
  const result = await worker.run('bareClient', { url: `http://127.0.0.1:${port}`, messages, window })
  return { count: messages, cpu: result.cpu, perSecond: messages / result.seconds }
}

/** Starts a gateway with one carrier over HTTP, and its process that receives callbacks. */
async function openHttpSide(environment: BenchmarkEnvironment, baseUrl: string) {
  const path = join(environment.folder, 'carriers.json')
  const secrets = { sid: 'AC1', token: 'token' }
  const carrier = { name: 'main', type: 'http', provider: 'twilio', baseUrl, secrets, from: '15005550006', window }
  await writeFile(path, JSON.stringify({ carriers: [carrier] }))
  const port = await freePort()
  const further = { PUBLIC_URL: `http://127.0.0.1:${port}` }
  return openSide(environment, `file:${path}`, {
    dispatcher: further,
    start: (database) => environment.start('callbacks', { PORT: String(port), ...further }, database),
  })
}

/** Returns a port of 127.0.0.1 that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
