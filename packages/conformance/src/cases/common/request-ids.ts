import type { Case } from '../../case.ts'
import { expectEqual, header } from '../../expectations.ts'
import type { Answer } from '../../http/read-answer.ts'
import type { Request } from '../../http/request.ts'
import type { Interface, TestedGateway } from '../../tested-gateway.ts'

const idOf = (answer: Answer): string => header(answer, 'x-request-id') ?? ''

/** What is answered with a result, an error, a list in pieces, 404 and 405, on each interface. */
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
    title: 'every answer has an X-Request-Id: the one that was sent, else one that no other answer has',
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
    title: 'an X-Request-Id of 128 characters of A-Z a-z 0-9 . _ - is taken over, a longer one and any other are not',
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
