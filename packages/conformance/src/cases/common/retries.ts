import { randomUUID } from 'node:crypto'
import type { Case } from '../../case.ts'
import {
  expectAsp,
  expectEqual,
  expectRest,
  expectRestError,
  expectXml,
  expectXmlError,
  header,
} from '../../expectations.ts'
import type { Answer, Request } from '../../http.ts'
import type { Keyed, TestedGateway, Interface } from '../../tested-gateway.ts'
import { farAhead } from '../../times.ts'
import { balance, fill, price, transfer } from '../../verbs.ts'
import { numbersOf } from '../query-string/sending.ts'
import { askXml, idsOf, message, sendXml } from '../xml/documents.ts'

const usedAsp = 'Error="clientref was used for another request"'
const usedXml = 'clientref was used for another request'

/**
 * Returns, for each interface, a function that schedules a message far ahead with an idempotency key. Accepted messages
 * are deleted after the case.
 */
const sends = (gateway: TestedGateway, by: Keyed) => {
  const scheduled = farAhead()
  const leave = (answer: Answer, ids: readonly number[]): Answer => {
    gateway.leave(by, ids)
    return answer
  }
  return {
    rest: async (key: string, text = 'once', path = '/sms/outgoing/send') => {
      const body = { message: text, recipients: [{ mobileNumber: gateway.number }], scheduledTime: scheduled }
      const answer = await gateway.rest(path, { by, headers: [['Idempotency-Key', key]], body })
      return leave(
        answer,
        Array.from(answer.text.matchAll(/"apiMessageId":(\d+)/g), ([, id]) => Number(id)),
      )
    },
    asp: async (clientref: string, text = 'once') => {
      const parameters = { message: text, numbers: gateway.number, scheduled, clientref }
      const answer = await gateway.asp('batchmessage.asp', parameters, by)
      return leave(answer, numbersOf(answer))
    },
    xml: async (key: string, text = 'once') => {
      const messages = `<Messages>${message(text, [gateway.number])}</Messages>`
      const content = `<ClientRef>${key}</ClientRef><Scheduled>${scheduled}</Scheduled>${messages}`
      const answer = await askXml(gateway, sendXml, content, by)
      return leave(answer, idsOf(answer))
    },
  }
}

const withoutTime = (answer: Answer): string => answer.text.replace(/"timeStamp":"\d{17}"/, '')

export const retryCases: readonly Case[] = [
  {
    of: ['1.24'],
    title:
      'REST: a send with the same Idempotency-Key is executed once and answered the same; another request with it is 422',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const [{ rest }, key] = [sends(gateway, sub), randomUUID()]
      const before = await fill(gateway, 5)
      const first = await rest(key)
      expectRest(first, /"accepted":true/)
      for (let again = 0; again < 2; again++) expectEqual(withoutTime(await rest(key)), withoutTime(first))
      expectRestError(await rest(key, 'another'), 422)
      expectEqual(await balance(gateway, sub), before - price(gateway))
      expectRest(await rest(randomUUID()), /"accepted":true/)
      expectEqual(await balance(gateway, sub), before - 2 * price(gateway))
    },
  },
  {
    of: ['1.24'],
    title:
      'query string: a send with the same clientref is executed once and answered the same; another request with it is an error',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const [{ asp }, key] = [sends(gateway, sub), `order ${randomUUID()} é`]
      const before = await fill(gateway, 5)
      const first = expectAsp(await asp(key), /^\d+=\d+&$/)
      for (let again = 0; again < 2; again++) expectAsp(await asp(key), first)
      expectAsp(await asp(key, 'another'), usedAsp)
      expectEqual(await balance(gateway, sub), before - price(gateway))
    },
  },
  {
    of: ['1.24'],
    title:
      'XML: a send with the same ClientRef is executed once and answered the same; another request with it is an Error',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const [{ xml }, key] = [sends(gateway, sub), randomUUID()]
      const before = await fill(gateway, 5)
      const first = expectXml(await xml(key), /<ID>\d+<\/ID>/)
      for (let again = 0; again < 2; again++) expectXml(await xml(key), first)
      expectXmlError(await xml(key, 'another'), sendXml.response, usedXml)
      expectEqual(await balance(gateway, sub), before - price(gateway))
    },
  },
  {
    of: ['1.24', '2.13', '3.7'],
    title: 'a transfer with the same key moves its credits once, by REST and by the query string',
    alone: 'sub',
    run: async (gateway) => {
      const { main, sub } = gateway
      const [before, key, clientref] = [await fill(gateway, 5), randomUUID(), randomUUID()]
      const json = (transferQuantity: number) => ({
        sendingAccountNumber: main.id,
        receivingAccountNumber: sub.id,
        transferQuantity,
      })
      const rest = (quantity: number) =>
        gateway.rest('/credits/transfer', { headers: [['Idempotency-Key', key]], body: json(quantity) })
      const asp = (quantity: number) =>
        gateway.asp('creditstransfer.asp', {
          fromAccountId: String(main.id),
          toAccountId: String(sub.id),
          transferQuantity: String(quantity),
          clientref,
        })
      for (let again = 0; again < 2; again++) {
        expectRest(await rest(1), ',"transferSuccessful":true')
        expectAsp(await asp(1), 'Transfer=Success')
      }
      expectRestError(await rest(2), 422)
      expectAsp(await asp(2), usedAsp)
      expectEqual(await balance(gateway, sub), before + 20)
      await transfer(gateway, sub.id, main.id, 2)
    },
  },
  {
    of: ['1.24', '2.6'],
    title:
      'sendmulti with the same Idempotency-Key is executed once and answered the same; another request with it is 422',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const [key, before, scheduledTime] = [randomUUID(), await fill(gateway, 5), farAhead()]
      const ask = async (message: string) => {
        const one = { message, recipients: [{ mobileNumber: gateway.number }], scheduledTime }
        const request = { by: sub, headers: [['Idempotency-Key', key]] as const, body: { messages: [one] } }
        return gateway.rest('/sms/outgoing/sendmulti', request)
      }
      const first = await ask('once')
      gateway.leave(
        sub,
        Array.from(first.text.matchAll(/"apiMessageId":(\d+)/g), ([, id]) => Number(id)),
      )
      expectRest(first, /"accepted":true/)
      expectEqual(withoutTime(await ask('once')), withoutTime(first))
      expectRestError(await ask('another'), 422)
      expectEqual(await balance(gateway, sub), before - price(gateway))
    },
  },
  {
    of: ['1.24'],
    title: 'of parallel calls with one key one is executed, and all get its answer',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const before = await fill(gateway, 20)
      const { rest, asp, xml } = sends(gateway, sub)
      for (const call of [rest, asp, xml]) {
        const key = randomUUID()
        const answers = await Promise.all(Array.from({ length: 12 }, () => call(key)))
        expectEqual(new Set(answers.map(withoutTime)).size, 1)
      }
      expectEqual(await balance(gateway, sub), before - 3 * price(gateway))
    },
  },
  {
    of: ['1.24', '1.2'],
    title: 'a key belongs to its account: another account can use the same key for its own request',
    alone: 'sub',
    run: async (gateway) => {
      const key = randomUUID()
      await fill(gateway, 5)
      const ids = []
      for (const by of [gateway.sub, gateway.stranger]) ids.push(...numbersOf(await sends(gateway, by).asp(key)))
      expectEqual(new Set(ids).size, 2)
    },
  },
  {
    of: ['1.24', '2.4'],
    title: 'a refused call leaves its key free; 255 characters are accepted, 256 and control characters are not',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const before = await fill(gateway, 5)
      const { rest, asp, xml } = sends(gateway, sub)
      const key = randomUUID().padEnd(255, 'x')
      expectRestError(await rest(key, ''), 422)
      expectRest(await rest(key), /"accepted":true/)
      const [long, control] = [`${key}x`, 'a%01b']
      expectRestError(await rest(long), 422)
      expectAsp(await asp(long), /^Error="/)
      expectAsp(await asp(decodeURIComponent(control)), /^Error="/)
      expectXml(await xml(long), new RegExp(`^<${sendXml.response}><Error>`))
      expectEqual(await balance(gateway, sub), before - price(gateway))
    },
  },
]

const idOf = (answer: Answer): string => header(answer, 'x-request-id') ?? ''

/** Requests on each interface with different kinds of responses: a result, an error, a streamed list, 404 and 405. */
const requests = ({ main: { key } }: TestedGateway): readonly (readonly [Interface, Request])[] => [
  ['rest', { target: '/api/rest/v1/credits/balance', headers: [['AUTHORIZATION', key]] }],
  ['rest', { target: '/api/rest/v1/sms/incoming/optout', headers: [['AUTHORIZATION', key]] }],
  ['rest', { target: '/api/rest/v1/credits/balance' }],
  ['rest', { target: '/api/rest/v1/nothing' }],
  ['rest', { target: '/api/rest/v1/credits/balance', method: 'DELETE' }],
  ['asp', { target: `/api/credits.asp?apikey=${key}` }],
  ['asp', { target: `/api/listoptouts.asp?apikey=${key}` }],
  ['asp', { target: '/api/credits.asp' }],
  ['asp', { target: '/api/nothing.asp' }],
  ['asp', { target: '/api/credits.asp', method: 'DELETE' }],
  ['xml', { target: '/api/xmlgetstatus.asp', method: 'POST', body: '<a/>' }],
  ['xml', { target: '/api/xmlgetstatus.asp', method: 'DELETE' }],
]

export const requestIdCases: readonly Case[] = [
  {
    of: ['2.16'],
    title: 'every answer has an X-Request-Id: that of the request, or a unique one',
    run: async (gateway) => {
      const made: string[] = []
      for (const [to, request] of requests(gateway)) {
        const headers = [...(request.headers ?? []), ['X-Request-Id', 'Order-7.a_B'] as const]
        expectEqual(idOf(await gateway.raw(to, { ...request, headers })), 'Order-7.a_B')
        made.push(idOf(await gateway.raw(to, request)), idOf(await gateway.raw(to, request)))
      }
      for (const id of made) expectEqual(/^[\w.-]{1,128}$/.test(id), true, `${JSON.stringify(id)} is no request id`)
      expectEqual(new Set(made).size, made.length)
    },
  },
  {
    of: ['2.16'],
    title: 'an X-Request-Id of 128 characters of A-Z a-z 0-9 . _ - is accepted, a longer one or any other is not',
    run: async (gateway) => {
      const idFor = async (sent: string) =>
        idOf(await gateway.rest('/credits/balance', { headers: [['X-Request-Id', sent]] }))
      for (const sent of ['0', 'a-Z_9.', 'x'.repeat(128)]) expectEqual(await idFor(sent), sent)
      for (const sent of ['x'.repeat(129), 'a b', 'a,b', 'a/b', '<b>']) {
        const id = await idFor(sent)
        expectEqual(id !== sent && /^[\w.-]{1,128}$/.test(id), true, `${sent} was answered with ${id}`)
      }
    },
  },
]
