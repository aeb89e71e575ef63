import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { createBackOffice, createGateway, type Gateway, type Ports, holderAccess } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import { confirmationOf, defaultConfirmation, type ConsumedMessages } from '@gateway/core/inbox'
import { anAccount, anAddress, memoryPorts, scriptedCarrier, steppingClock, testChance } from '@gateway/core/testing'
import {
  admissionGate,
  createLog,
  createMetrics,
  confirmedResponses,
  listen,
  type ConfirmedResponses,
  type Running,
} from '@gateway/server'
import { createAllInOneServer } from './server.ts'

const log = createLog({ level: 'silent', name: 'test' })
const code = '40404'
const filling = 'so long a text that an answer does not fit into what the operating system takes at once '.repeat(8)

let ports: Ports
let account: Account
let key: string
let server: Running
let answers: ConfirmedResponses
/** Ids of the messages that each call returned, and whether the call offered them again. */
let takings: { readonly ids: readonly number[]; offeredAgain: boolean }[]

const idOf = (text: string): number => Number(/^#(\d+)\./.exec(text)?.[1])

const recorded = async (take: Promise<ConsumedMessages>): Promise<ConsumedMessages> => {
  const { messages, ...answer } = await take
  const taking = { ids: messages.map(({ text }) => idOf(text)), offeredAgain: false }
  takings.push(taking)
  return {
    messages,
    offerAgain: async () => {
      taking.offeredAgain = true
      await answer.offerAgain()
    },
  }
}

beforeEach(async () => {
  takings = []
  const clock = steppingClock()
  ports = memoryPorts({ clock })
  account = await anAccount(ports)
  await ports.senders.assign(anAddress(code), account.id)
  const issued = await createBackOffice(ports).commands.issueApiKey(account.id)
  if (typeof issued === 'string') throw new Error(issued)
  key = issued.key
  answers = confirmedResponses({ log })
  const gateway = createGateway(ports)
  const recording: Gateway = {
    ...gateway,
    commands: {
      ...gateway.commands,
      takeReplies: (...args) => recorded(gateway.commands.takeReplies(...args)),
      takeShortCodeMessages: (...args) => recorded(gateway.commands.takeShortCodeMessages(...args)),
    },
  }
  const app = createAllInOneServer(recording, {
    clock,
    holders: holderAccess(ports, recording),
    gate: admissionGate(100),
    confirmedResponses: answers,
    log,
    metrics: createMetrics(),
    health: { checks: {}, stopping: new AbortController().signal },
  })
  server = await listen({ app, host: '127.0.0.1', port: 0, log })
})
afterEach(() => server.close())

/** Stores messages for the account. They are numbered from `from` to `to - 1`, and each text begins with its number. */
const arrive = async (from: number, to: number) => {
  const arrivals = Array.from({ length: to - from }, (_, i) => ({
    carrier: scriptedCarrier().id,
    from: '27825550101',
    to: code,
    text: `#${from + i}. ${filling}`,
    sent: undefined,
    reference: undefined,
    offer: undefined,
    part: undefined,
  }))
  await ports.inbox.receive(arrivals, confirmationOf(defaultConfirmation))
}

const calls = ['httpgetreplies.asp', 'httpgetscmessages.asp', 'xmlgetreplies.asp', 'xmlgetscmessages.asp'] as const
const requestOf = (call: (typeof calls)[number]): string => {
  if (!call.startsWith('xml')) return `GET /api/${call}?apikey=${key} HTTP/1.1\r\nHost: x\r\n\r\n`
  const root = call === 'xmlgetreplies.asp' ? 'Svc_Replies' : 'Svc_SCmessages'
  const document = `<${root}><ApiKey>${key}</ApiKey></${root}>`
  return `POST /api/${call} HTTP/1.1\r\nHost: x\r\nContent-Length: ${document.length}\r\n\r\n${document}`
}

/**
 * Reads a response up to this many bytes and then closes the connection. Returns whether the response is complete, and
 * the ids of the messages in a complete one.
 */
async function poll(
  call: (typeof calls)[number],
  bytesMax: number,
): Promise<{ whole: boolean; ids: readonly number[] }> {
  const socket = connect(server.port, '127.0.0.1').setEncoding('latin1')
  socket.on('error', () => undefined)
  socket.write(requestOf(call))
  let text = ''
  const end = { whole: false }
  socket.on('data', (chunk) => {
    text += String(chunk)
    const head = text.indexOf('\r\n\r\n')
    const length = Number(/Content-Length: (\d+)/i.exec(text)?.[1] ?? NaN)
    end.whole = head !== -1 && text.length - head - 4 === length
    if (end.whole || text.length >= bytesMax) socket.resetAndDestroy()
  })
  await once(socket, 'close')
  return { ...end, ids: end.whole ? [...text.matchAll(/#(\d+)\./g)].map(([, id]) => Number(id)) : [] }
}

test('a response of 10 000 messages that was cut off is offered again completely, to other calls too, but not after a complete one', async () => {
  await arrive(0, 10_000)
  for (const bytes of [1, 200, 1_000_000]) {
    for (const call of calls) {
      expect(await poll(call, bytes)).toEqual({ whole: false, ids: [] })
      // The server notices the broken connection at some later moment.
      while (await isTaken()) await setImmediate()
    }
  }
  expect((await poll('xmlgetreplies.asp', Infinity)).ids).toEqual(Array.from({ length: 10_000 }, (_, i) => i))
  for (const call of calls) expect(await poll(call, Infinity)).toEqual({ whole: true, ids: [] })
})

/** Returns true while another call has consumed some of the messages. This check offers its own messages again. */
async function isTaken(): Promise<boolean> {
  const taking = await createGateway(ports).commands.takeReplies(account, 'with-short-codes')
  await taking.offerAgain()
  return taking.messages.length < 10_000
}

test('16 pollers over four calls, with messages arriving and clients breaking off anywhere, each message is returned once', async () => {
  const count = 10_000
  const chance = testChance()
  const seen: number[] = []
  let [arrived, broken] = [0, 0]
  const arriveMore = async () => {
    await arrive(arrived, arrived + 2500)
    arrived += 2500
  }
  const arriving = async () => {
    while (arrived < count) {
      for (let i = 0; i < 10; i++) await setImmediate()
      await arriveMore()
    }
  }
  const handedOver = () => takings.filter(({ offeredAgain }) => !offeredAgain).flatMap(({ ids }) => ids)
  const polling = async () => {
    // At least one response breaks off, because the first one has 2500 messages and only one byte of it is read.
    for (let [first, idle] = [true, 0]; idle < 3; first = false) {
      const call = chance.one(calls)
      const bytesMax = first ? 1 : chance.below(3_000_000)
      const { whole, ids } = await poll(call, first || chance.happens(0.7) ? bytesMax : Infinity)
      seen.push(...ids)
      if (!whole) broken += 1
      idle = whole && ids.length === 0 && arrived >= count ? idle + 1 : 0
    }
  }
  await arriveMore()
  await Promise.all([arriving(), ...Array.from({ length: 16 }, polling)])
  await server.close()
  await answers.settle()

  const { messages } = await createGateway(ports).commands.takeReplies(account, 'with-short-codes')
  const handed = [...handedOver(), ...messages.map(({ text }) => idOf(text))].sort((a, b) => a - b)
  expect(handed).toEqual(Array.from({ length: count }, (_, i) => i))
  expect(new Set(seen).size).toBe(seen.length)
  const gone = new Set(handedOver())
  expect(seen.filter((id) => !gone.has(id))).toEqual([])
  expect(broken).toBeGreaterThan(0)
})
