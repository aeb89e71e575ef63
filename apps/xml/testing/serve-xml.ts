import { createBackOffice, createGateway, type Ports } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import type { Order } from '@gateway/core/messages'
import { anAccount, memoryPorts, steppingClock, type AccountOptions } from '@gateway/core/testing'
import { admissionGate, createLog, confirmedResponses } from '@gateway/server'
import request from 'supertest'
import { createXmlServer, type XmlServerSettings } from '../src/index.ts'
import './checked-answers.ts'

/** Starts the interface on memory ports with one account. The clock stands at 2026-10-18 10:00 in gateway time. */
export async function serveXml({ options = {}, settings = {}, change = (ports) => ports }: Serving = {}) {
  const clock = steppingClock()
  const orders: Order[] = []
  const ports = change(recordingOrders(memoryPorts({ clock }), orders))
  const account = await anAccount(ports, options)
  const backOffice = createBackOffice(ports)
  const log = createLog({ level: 'silent', name: 'test' })
  const app = createXmlServer(createGateway(ports), {
    clock,
    gate: admissionGate(100),
    confirmedResponses: confirmedResponses({ log }),
    log,
    ...settings,
  })
  const post = (path: string, document: string | Buffer, contentType = 'text/xml') =>
    request(app)
      .post(path)
      .set('Content-Type', contentType)
      .serialize((body: unknown) => body as string)
      .send(document)
  return { app, ports, orders, clock, account, backOffice, key: await keyOf(ports, account), post }
}

/** Returns the ports with a `messages` port that adds each order to `orders` before accepting it. */
const recordingOrders = (ports: Ports, orders: Order[]): Ports => ({
  ...ports,
  messages: {
    ...ports.messages,
    accept: (order) => {
      orders.push(order)
      return ports.messages.accept(order)
    },
    acceptOnce: (order, ...once) => {
      orders.push(order)
      return ports.messages.acceptOnce(order, ...once)
    },
  },
})

export interface Serving {
  readonly options?: AccountOptions
  readonly settings?: Partial<XmlServerSettings>
  readonly change?: (ports: Ports) => Ports
}

export type Served = Awaited<ReturnType<typeof serveXml>>

export async function keyOf(ports: Ports, { id }: Account): Promise<string> {
  const issued = await createBackOffice(ports).commands.issueApiKey(id)
  if (typeof issued === 'string') throw new Error(issued)
  return issued.key
}

/** Returns a response document with this root and content. */
export const answer = (root: string, content = ''): string =>
  `<?xml version="1.0" encoding="utf-8"?>${content === '' ? `<${root}/>` : `<${root}>${content}</${root}>`}`

/** Returns a response document with an error. */
export const errorIn = (root: string, text: string): string => answer(root, `<Error>${text}</Error>`)
