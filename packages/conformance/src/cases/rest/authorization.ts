import type { Case } from '../../case.ts'
import { expectEnvelope, expectEqual, expectRestError } from '../../expectations.ts'
import type { TestedGateway } from '../../tested-gateway.ts'

const withHeader = (gateway: TestedGateway, value: string, name = 'AUTHORIZATION') =>
  gateway.rest('/credits/balance', { by: null, headers: [[name, value]] })

const messageWithout = async (gateway: TestedGateway): Promise<string> =>
  expectRestError(await gateway.rest('/credits/balance', { by: null }), 401)
const messageOf = async (gateway: TestedGateway, key: string): Promise<string> =>
  expectRestError(await withHeader(gateway, key), 401)

export const authorizationCases: readonly Case[] = [
  {
    of: ['2.2', 'spec 5', 'spec 5, rule 1', 'spec 5, rule 5'],
    title: 'the key counts alone and after one prefix word, in a header of any letter case',
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
    title: 'the letter case of a key counts',
    run: async (gateway) => {
      const other = gateway.main.key.replace(/[A-Za-z](?=[^A-Za-z]*$)/, (one) =>
        one < 'a' ? one.toLowerCase() : one.toUpperCase(),
      )
      expectRestError(await withHeader(gateway, other), 401)
    },
  },
  ...(['revoked', 'expired'] as const).map((which): Case => ({
    of: ['2.2', 'spec 5, rule 6'],
    title: `a key that is ${which} is answered as a wrong one, on every interface`,
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
    title: 'REST takes no user and password: neither as Basic nor in the query',
    run: async (gateway) => {
      const { user, password, key } = gateway.main
      const basic = Buffer.from(`${user}:${password}`).toString('base64')
      expectRestError(await withHeader(gateway, `Basic ${basic}`), 401)
      expectRestError(await gateway.rest(`/credits/balance?apikey=${key}`, { by: null }), 401)
    },
  },
]
