import type { Case } from '../../case.ts'
import { expectEnvelope, expectEqual, expectRest, expectRestError } from '../../expectations.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { instantOf } from '../../times.ts'
import { everyPath, gets, posts } from './paths.ts'

export const envelopeCases: readonly Case[] = [
  {
    of: ['2.1', '1.3', 'spec 2', 'spec 4.1'],
    title: 'the balance is the envelope and creditBalance with exactly one decimal, without white space',
    run: async (gateway) => expectRest(await gateway.rest('/credits/balance'), /^,"creditBalance":\d+\.\d$/),
  },
  {
    of: ['2.1', '1.1', 'spec 2'],
    title: 'timeStamp is 17 digits of the present time at +02:00, to the millisecond',
    run: async (gateway) => {
      const skewMs = (gateway.configuration.clockSeconds ?? 5) * 1000
      const milliseconds = new Set<string>()
      for (let i = 0; i < 8; i++) {
        const before = Date.now()
        const { text } = await gateway.rest('/credits/balance')
        const stamp = /"timeStamp":"(\d{17})"/.exec(text)?.[1] ?? ''
        const at = instantOf(stamp)
        expectEqual(at >= before - skewMs && at <= Date.now() + skewMs, true, `timeStamp ${stamp} is not now at +02:00`)
        milliseconds.add(stamp.slice(-3))
      }
      expectEqual(milliseconds.size > 1, true, `every timeStamp ends in ${[...milliseconds].join()}: it is rounded`)
    },
  },
  {
    of: ['2.1', 'spec 7.1'],
    title: 'every 404 below the prefix has the envelope, including the prefix itself',
    run: async (gateway) => {
      for (const path of ['', '/', '/nothing', '/sms', '/sms/outgoing', '/credits/balance/more'])
        expectRestError(await gateway.rest(path), 404)
    },
  },
  {
    of: ['2.1', 'spec 7.1', 'spec 2'],
    title: 'statusCode is the HTTP status, and an error has only errorMessage and errorCode after the envelope',
    run: async (gateway) => {
      expectRestError(await gateway.rest('/credits/balance', { by: null }), 401)
      expectRestError(await gateway.rest('/credits/balance', { method: 'DELETE' }), 405)
      expectRestError(await gateway.rest('/sms/outgoing/status', { body: '{' }), 400)
      expectRestError(await gateway.rest('/sms/outgoing/status', { body: '[]' }), 422)
    },
  },
  {
    of: ['2.16'],
    title:
      'the same cause has the same errorCode on every path, and causes that programs distinguish have different ones',
    run: async (gateway) => {
      const codeOf = async (path: string, status: number, request: Parameters<typeof gateway.rest>[1]) => {
        const answer = await gateway.rest(path, request)
        expectRestError(answer, status)
        return (JSON.parse(answer.text) as { errorCode: string }).errorCode
      }
      const codes = new Set<string>()
      const ofAll = async (paths: readonly string[], status: number, request: Parameters<typeof gateway.rest>[1]) => {
        const found = new Set(await Promise.all(paths.map((path) => codeOf(path, status, request))))
        expectEqual(found.size, 1, `${status} has the codes ${[...found].join(', ')}`)
        codes.add([...found][0] ?? '')
      }
      await ofAll(gets, 401, { by: null })
      await ofAll(gets, 401, { by: { id: 0, key: 'wrong' } })
      await ofAll(gets, 405, { method: 'PUT' })
      await ofAll(posts, 400, { body: '{' })
      await ofAll(['/credits/transfer', '/sms/outgoing/send', '/sms/outgoing/sendmulti'], 422, { body: {} })
      await ofAll(['/sms/outgoing/status', '/sms/scheduled/delete'], 422, { body: [] })
      expectEqual(codes.size, 6, `these are not told apart: ${[...codes].join(', ')}`)
    },
  },
  {
    of: ['spec 9', 'spec 2', 'spec 4.1'],
    title: 'the path carries v1: no other version exists, and version is the same in every answer',
    run: async (gateway) => {
      const other = await gateway.raw('rest', {
        target: '/api/rest/v2/credits/balance',
        headers: [['AUTHORIZATION', gateway.main.key]],
      })
      expectEqual(other.status, 404)
      for (const path of gets) expectEnvelope(await gateway.rest(path), 200)
    },
  },
  {
    of: ['spec 4.1', 'spec 1'],
    title: 'every operation is there: GETs answer 200, POSTs read their body',
    run: async (gateway) => {
      for (const path of gets) expectEnvelope(await gateway.rest(path), 200)
      for (const path of posts) expectRestError(await gateway.rest(path, { body: '"none of these"' }), 422)
    },
  },
  ...everyPath.map(({ path }): Case => ({
    of: ['spec 7.1', '2.3', 'spec 4.1'],
    title: `${path}: 404 in another letter case or spelling, 401 without a key`,
    run: async (gateway) => {
      expectRestError(await gateway.rest(path.toUpperCase()), 404)
      expectRestError(await gateway.rest(path.replace(/.$/, (last) => last.toUpperCase())), 404)
      expectRestError(await gateway.rest(`${path}s`), 404)
      const method = gets.includes(path) ? 'GET' : 'POST'
      expectRestError(await gateway.rest(path, { method, by: null }), 401)
    },
  })),
]

const withHeader = (gateway: TestedGateway, value: string, name = 'AUTHORIZATION') =>
  gateway.rest('/credits/balance', { by: null, headers: [[name, value]] })

const messageWithout = async (gateway: TestedGateway): Promise<string> =>
  expectRestError(await gateway.rest('/credits/balance', { by: null }), 401)
const messageOf = async (gateway: TestedGateway, key: string): Promise<string> =>
  expectRestError(await withHeader(gateway, key), 401)

export const authorizationCases: readonly Case[] = [
  {
    of: ['2.2', 'spec 5', 'spec 5, rule 1', 'spec 5, rule 5'],
    title: 'the key is accepted alone and after one prefix word, in a header of any letter case',
    run: async (gateway) => {
      const { key } = gateway.main
      for (const value of [key, `Bearer ${key}`, `Token ${key}`, `ApiKey ${key}`, `x ${key}`])
        expectEnvelope(await withHeader(gateway, value), 200)
      for (const name of ['Authorization', 'authorization', 'aUTHORIZATION'])
        expectEnvelope(await withHeader(gateway, key, name), 200)
    },
  },
  {
    of: ['2.2', 'spec 5, rule 2', 'spec 7.1'],
    title: 'a missing header and an empty one are 401 with one message, a wrong key 401 with another',
    run: async (gateway) => {
      const missing = await messageWithout(gateway)
      expectEqual(await messageOf(gateway, ''), missing)
      const wrong = await messageOf(gateway, 'gw_wrong')
      expectEqual(wrong === missing, false, 'a wrong key has the message of a missing one')
      for (const key of [`${gateway.main.key}x`, gateway.main.key.slice(0, -1), `a b ${gateway.main.key}`, 'Bearer'])
        expectEqual(await messageOf(gateway, key), wrong)
    },
  },
  {
    of: ['2.2'],
    title: 'the letter case of a key matters',
    run: async (gateway) => {
      const other = gateway.main.key.replace(/[A-Za-z](?=[^A-Za-z]*$)/, (one) =>
        one < 'a' ? one.toLowerCase() : one.toUpperCase(),
      )
      expectRestError(await withHeader(gateway, other), 401)
    },
  },
  ...(['revoked', 'expired'] as const).map((which): Case => ({
    of: ['2.2', 'spec 5, rule 6'],
    title: `a key that is ${which} is answered like a wrong one, on every interface`,
    run: async (gateway) => {
      const key = gateway.configured(gateway.configuration.keys?.[which], `keys.${which}`)
      expectEqual(await messageOf(gateway, key), await messageOf(gateway, 'gw_wrong'))
      expectEqual((await gateway.asp('auth.asp', {}, { id: 0, key })).text, 'Login=FAIL')
      const replies = await gateway.xml('xmlgetreplies.asp', 'Svc_Replies', '', { id: 0, key })
      expectEqual(replies.text.includes('<Error>Authentication failed</Error>'), true)
    },
  })),
  {
    of: ['spec 5'],
    title: 'REST accepts no user and password, neither as Basic nor in the query',
    run: async (gateway) => {
      const { user, password, key } = gateway.main
      const basic = Buffer.from(`${user}:${password}`).toString('base64')
      expectRestError(await withHeader(gateway, `Basic ${basic}`), 401)
      expectRestError(await gateway.rest(`/credits/balance?apikey=${key}`, { by: null }), 401)
    },
  },
]
