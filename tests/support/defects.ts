import { createServer, Agent, request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Configuration } from '@gateway/conformance'

/** Request from the client to the gateway. `body` has one character for each byte. */
interface Asked {
  method: string
  /** Path of the request with its query string. */
  path: string
  headers: [name: string, value: string][]
  body: string
}

/** Answer from the gateway to the client. `text` is decoded as UTF-8. */
interface Answered {
  status: number
  headers: [name: string, value: string][]
  text: string
}

/** Sends a request to the gateway itself, without the defect. */
type AskGateway = (request: Partial<Asked>) => Promise<Answered>

/** Defect of a gateway. A proxy in front of a gateway without the defect can imitate it. */
export interface Defect {
  /** Parts of titles of cases. Every case with such a title must fail. */
  readonly fails: readonly string[]
  /** Changes a request before it reaches the gateway. */
  readonly request?: (request: Asked) => void
  /** Changes an answer before it reaches the client. */
  readonly answer?: (
    answered: Answered,
    request: Asked,
    gateway: AskGateway,
    accounts: Configuration['accounts'],
  ) => void | Promise<void>
}

const pairs = (raw: readonly string[]): [string, string][] =>
  raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ''] as [string, string]] : []))
const hopByHop = /^(host|connection|keep-alive|transfer-encoding|content-length)$/i

const without = (headers: [string, string][], names: RegExp): [string, string][] =>
  headers.filter(([name]) => !names.test(name))
export const setHeader = (answered: Answered, name: string, value: string): void => {
  answered.headers = [...without(answered.headers, new RegExp(`^${name}$`, 'i')), [name, value]]
}

/** Starts a proxy that imitates the planted defect. It changes nothing while no defect is planted. */
export async function defectiveGateway(url: string, accounts: Configuration['accounts']) {
  const agent = new Agent({ keepAlive: true })
  let defect: Defect | undefined

  const toGateway: AskGateway = ({ method = 'GET', path = '/', headers = [], body = '' }) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(body, 'latin1')
      const length: [string, string][] =
        method === 'GET' || method === 'HEAD' ? [] : [['Content-Length', String(bytes.length)]]
      const sent = ask(
        url,
        {
          method,
          path,
          agent,
          headers: [['Host', new URL(url).host], ...without(headers, hopByHop), ...length].flat(),
        },
        (answer) => {
          buffer(answer).then((text) => {
            const passedHeaders = without(pairs(answer.rawHeaders), hopByHop)
            resolve({ status: answer.statusCode ?? 0, headers: passedHeaders, text: text.toString('utf8') })
          }, reject)
        },
      )
      sent.on('error', reject)
      sent.end(bytes)
    })

  const server = createServer({ maxHeaderSize: 100_000 }, (request, response) => {
    const { method = '', url: path = '', rawHeaders } = request
    const work = async () => {
      const received = { method, path, headers: pairs(rawHeaders), body: (await buffer(request)).toString('latin1') }
      defect?.request?.(received)
      const answered = await toGateway(received)
      await defect?.answer?.(answered, received, toGateway, accounts)
      const body = Buffer.from(answered.text)
      response
        .writeHead(answered.status, [...answered.headers, ['Content-Length', String(body.length)]].flat())
        .end(body)
    }
    work().catch((problem: unknown) => response.writeHead(500).end(String(problem)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    plant: (planted: Defect | undefined): void => {
      defect = planted
    },
    close: async () => {
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
