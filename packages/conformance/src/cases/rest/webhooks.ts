import type { Case } from '../../case.ts'
import { expectEqual, expectRest, expectRestError, header } from '../../expectations.ts'

const path = '/webhooks'
/** Webhook id that no account has. */
const unknown = `${path}/9007199254740991`

const methods: readonly (readonly [path: string, methods: readonly string[]])[] = [
  [path, ['GET', 'POST']],
  [unknown, ['DELETE', 'GET', 'PATCH']],
  [`${unknown}/rotate`, ['POST']],
  [`${unknown}/test`, ['POST']],
  [`${unknown}/replay`, ['DELETE', 'GET', 'POST']],
  [`${unknown}/attempts`, ['GET']],
]

/** Cases that add no webhook, because its events would leave the deployment. */
export const webhookCases: readonly Case[] = [
  {
    of: ['C1'],
    title: '/webhooks is the list of the webhooks of the account',
    run: async (gateway) => expectRest(await gateway.rest(path), /^,"webhooks":\[.*\]$/s),
  },
  {
    of: ['C1', '2.3'],
    title: 'each path of webhooks: another method is 405 and names the allowed ones, also in Allow; 401 without a key',
    run: async (gateway) => {
      for (const [each, allowed] of methods) {
        for (const method of ['PUT', 'OPTIONS']) {
          const answer = await gateway.rest(each, { method })
          const message = expectRestError(answer, 405, new RegExp(`\\b${method}\\b`))
          expectEqual(header(answer, 'allow')?.split(', ').toSorted(), allowed)
          expectEqual(
            allowed.filter((one) => !new RegExp(`\\b${one}\\b`).test(message)),
            [],
            message,
          )
        }
        for (const method of allowed) expectRestError(await gateway.rest(each, { method, by: null }), 401)
      }
    },
  },
  {
    of: ['C1', '2.3'],
    title: 'an unknown webhook is 404, after the checks of the key and of the body',
    run: async (gateway) => {
      for (const method of ['GET', 'DELETE']) expectRestError(await gateway.rest(unknown, { method }), 404)
      expectRestError(await gateway.rest(`${unknown}/attempts`), 404)
      const post = `${unknown}/test`
      expectRestError(await gateway.rest(post, { by: { id: 0, key: 'wrong' }, body: {} }), 401)
      expectRestError(await gateway.rest(post, { headers: [['Content-Type', 'text/plain']], body: '{}' }), 415)
      expectRestError(await gateway.rest(post, { body: '{' }), 400)
      expectRestError(await gateway.rest(post, { body: [] }), 422)
      expectRestError(await gateway.rest(post, { body: {} }), 404)
    },
  },
  {
    of: ['C1'],
    title: 'a segment that is not a whole number from 1 makes an unknown path',
    run: async (gateway) => {
      for (const segment of ['0', '01', '-1', '1.0', '1e3', 'x'])
        expectRestError(await gateway.rest(`${path}/${segment}`, { by: null }), 404)
    },
  },
  {
    of: ['C1'],
    title: 'a webhook without a URL, or with invalid fields, is 422, and the fields are named',
    run: async (gateway) => {
      const url = 'https://gateway.invalid/events'
      for (const [names, body] of [
        [/url/, {}],
        [/url/, { url: '' }],
        [/url/, { url: 'nothing' }],
        [/events/, { url, events: ['none'] }],
        [/listSize/, { url, listSize: 101 }],
        [/listSize/, { url, listSize: 0 }],
        [/withText/, { url, withText: 'yes' }],
      ] as const)
        expectRestError(await gateway.rest(path, { body }), 422, names)
    },
  },
]
