import type { Case } from '../../case.ts'
import { expectEnvelope, expectEqual, expectRest, expectRestError, header, restBody } from '../../expectations.ts'
import { minutesOfJumps } from '../../times.ts'
import { bodyMax, everyPath, gets, posts } from './paths.ts'

const status = '/sms/outgoing/status'
const tooLarge = Buffer.alloc(bodyMax + 1, 'x')
const xmlType = ['Content-Type', 'text/xml'] as const

/**
 * Cases for the order of checks. Each request fails one check and all later ones; the response must be that of the
 * first failed check.
 */
export const orderCases: readonly Case[] = [
  {
    of: ['2.3', 'spec 7.1'],
    title: '404 before 405, 401, 413, 415, 400 and 422',
    run: async (gateway) => {
      const all = { by: null, method: 'PUT', headers: [xmlType], body: tooLarge }
      expectRestError(await gateway.rest('/sms/outgoing/Status', all), 404)
    },
  },
  {
    of: ['2.3', 'spec 7.1'],
    title: '405 before 401, 413, 415, 400 and 422',
    run: async (gateway) => {
      expectRestError(await gateway.rest(status, { by: null, method: 'PUT', headers: [xmlType], body: tooLarge }), 405)
    },
  },
  {
    of: ['2.3', 'spec 7.1'],
    title: '401 before 413, 415, 400 and 422',
    run: async (gateway) => {
      expectRestError(await gateway.rest(status, { by: null, headers: [xmlType], body: tooLarge }), 401)
    },
  },
  {
    of: ['2.2'],
    title:
      'two AUTHORIZATION headers with different values are 401 like a wrong key, and the same value twice is accepted',
    run: async (gateway) => {
      const { key } = gateway.main
      const balance = (...keys: string[]) =>
        gateway.raw('rest', {
          target: '/api/rest/v1/credits/balance',
          headers: keys.map((one) => ['Authorization', one] as const),
        })
      const wrong = expectRestError(await balance('wrong'), 401)
      for (const keys of [
        [key, 'wrong'],
        ['wrong', key],
        ['', key],
      ])
        expectEqual(expectRestError(await balance(...keys), 401), wrong)
      restBody(await balance(key, key))
    },
  },
  {
    of: ['2.4', '1.27', '1.28'],
    title: 'U+0000 in a sender, a reference or a clientMessageId is 422 with the errorCode unusable-text',
    run: async (gateway) => {
      const recipient = { mobileNumber: gateway.number }
      for (const body of [
        { message: 'a', recipients: [recipient], sender: 'A\0' },
        { message: 'a', recipients: [{ ...recipient, reference: 'a\0' }] },
        { message: 'a', recipients: [{ ...recipient, clientMessageId: '\0' }] },
      ]) {
        const answer = await gateway.rest('/sms/outgoing/send', { body })
        expectRestError(answer, 422)
        expectEqual((JSON.parse(answer.text) as { errorCode: string }).errorCode, 'unusable-text')
      }
    },
  },
  {
    of: ['1.1', '2.4', '2.5'],
    title:
      'times at which the clocks of summer time jump are read to the minute, and so are those of winter and summer',
    run: async (gateway) => {
      const minutes = minutesOfJumps()
      const messages = minutes.map((scheduledTime) => ({
        message: 'a',
        recipients: [{ mobileNumber: gateway.number }],
        scheduledTime,
      }))
      const answer = await gateway.rest('/sms/outgoing/sendmulti', { body: { messages } })
      const sent = restBody<{ messages: { recipients: { apiMessageId: number; scheduledTime: string }[] }[] }>(answer)
      const recipients = sent.messages.flatMap((message) => message.recipients)
      gateway.leave(
        gateway.main,
        recipients.map(({ apiMessageId }) => apiMessageId),
      )
      expectEqual(
        recipients.map(({ scheduledTime }) => scheduledTime),
        minutes,
      )
    },
  },
  {
    of: ['1.31', '3.8'],
    title: 'a path below /api/rest/ that does not exist is 404 in the envelope, whichever process answers',
    run: async (gateway) => {
      for (const process of ['rest', 'asp', 'xml'] as const)
        for (const target of ['/api/rest/v2/credits/balance', '/api/rest/nothing'])
          expectRestError(await gateway.raw(process, { target }), 404)
    },
  },
  {
    of: ['1.31'],
    title: 'headers over 64 kB are 431 in the form of the interface of the path',
    run: async (gateway) => {
      const headers = [['X-Long', 'x'.repeat(70_000)]] as const
      const path = (target: string) => ({ target, headers })
      expectRestError(await gateway.raw('rest', path('/api/rest/v1/credits/balance')), 431)
      const asp = await gateway.raw('asp', path('/api/credits.asp'))
      expectEqual([asp.status, /^Error="[^"]+"$/.test(asp.text)], [431, true], asp.text)
      const xml = await gateway.raw('xml', { ...path('/api/xmlgetreplies.asp'), method: 'POST', body: '' })
      expectEqual([xml.status, /<XMLGateway_Replies><Error>[^<]+<\/Error>/.test(xml.text)], [431, true], xml.text)
    },
  },
  {
    of: ['2.3', 'spec 7.1'],
    title: '413 before 415, 400 and 422',
    run: async (gateway) => {
      expectRestError(await gateway.rest(status, { headers: [xmlType], body: tooLarge }), 413)
    },
  },
  {
    of: ['2.3', 'spec 7.1'],
    title: '415 before 400 and 422, and 400 before 422',
    run: async (gateway) => {
      expectRestError(await gateway.rest(status, { headers: [xmlType], body: '{"not json' }), 415)
      expectRestError(await gateway.rest(status, { body: '["x", not json' }), 400)
      expectRestError(await gateway.rest(status, { body: '["x"]' }), 422)
    },
  },
  ...everyPath.map(({ path, method }): Case => ({
    of: ['2.3', 'spec 7.1'],
    title: `${path}: another method is 405, whose message names both`,
    run: async (gateway) => {
      const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'].filter((one) => one !== method)
      for (const other of others) {
        const message = expectRestError(await gateway.rest(path, { method: other }), 405, new RegExp(`\\b${method}\\b`))
        expectEqual(new RegExp(`\\b${other}\\b`).test(message), true, `the message names no ${other}: ${message}`)
      }
      const head = await gateway.rest(path, { method: 'HEAD' })
      expectEqual([head.status, head.body.length], [405, 0])
    },
  })),
  {
    of: ['2.3', 'spec 7.1', 'spec 8'],
    title: 'a body of 204800 bytes is accepted, one more byte is 413, with a length and in chunks',
    run: async (gateway) => {
      const padded = (bytes: number) => `[1${' '.repeat(bytes - 3)}]`
      for (const as of ['whole', 'chunked', { segments: 3 }] as const) {
        expectEnvelope(await gateway.rest(status, { body: padded(bodyMax), as }), 200)
        expectRestError(await gateway.rest(status, { body: padded(bodyMax + 1), as }), 413)
      }
    },
  },
  ...posts.map((path): Case => ({
    of: ['2.3', 'spec 7.1'],
    title: `${path}: too large is 413, another type 415, invalid JSON 400`,
    run: async (gateway) => {
      expectRestError(await gateway.rest(path, { body: tooLarge }), 413)
      expectRestError(
        await gateway.rest(path, { headers: [['Content-Type', 'application/x-www-form-urlencoded']], body: '[1]' }),
        415,
      )
      for (const body of ['', '{', '[1,]', "{'a':1}", '[1] [2]', 'NaN', '\u00a0[1]'])
        expectRestError(await gateway.rest(path, { body }), 400)
    },
  })),
  {
    of: ['2.3'],
    title: 'one slash at the end of a path is ignored, two are not',
    run: async (gateway) => {
      for (const path of gets) expectEnvelope(await gateway.rest(`${path}/`), 200)
      expectEnvelope(await gateway.rest(`${status}/`, { body: [1] }), 200)
      for (const path of ['/credits/balance//', '//credits/balance', '/credits//balance'])
        expectRestError(await gateway.rest(path), 404)
      expectRestError(await gateway.rest(`${status}/`), 405)
      expectEnvelope(await gateway.rest('/sms/scheduled/?limit=1'), 200)
    },
  },
  {
    of: ['2.3', 'spec 7.1', 'spec 4.1'],
    title: 'application/json is accepted with parameters; every other type, and none, is 415, and the message names it',
    run: async (gateway) => {
      const of = (type: string) => gateway.rest(status, { headers: [['Content-Type', type]], body: '[1]' })
      for (const type of [
        'application/json',
        'application/json; charset=utf-8',
        'application/json;charset=UTF-8',
        'application/json; x=1',
      ])
        expectEnvelope(await of(type), 200)
      for (const type of [
        'text/json',
        'application/xml',
        'application/jsonp',
        'application/json5',
        'text/plain; application/json',
      ])
        expectRestError(await of(type), 415, new RegExp(type.replace(/[/.+;]/g, '\\$&')))
      expectRestError(await of(''), 415)
    },
  },
  {
    of: ['2.3'],
    title: 'a Content-Encoding is 415',
    run: async (gateway) => {
      for (const encoding of ['gzip', 'identity', 'br'])
        expectRestError(await gateway.rest(status, { headers: [['Content-Encoding', encoding]], body: '[1]' }), 415)
    },
  },
  {
    of: ['2.3'],
    title: 'a GET may have a content type and no body',
    run: async (gateway) => {
      for (const path of gets)
        expectEnvelope(await gateway.rest(path, { headers: [['Content-Type', 'application/json']] }), 200)
    },
  },
  {
    of: ['2.3'],
    title: 'REST over HTTP/1.0, and in many segments, gets the usual answers',
    run: async (gateway) => {
      expectRest(await gateway.rest('/credits/balance', { version: '1.0' }), /^,"creditBalance":\d+\.\d$/)
      const answer = await gateway.rest(status, { body: [1], as: { segments: 20 } })
      expectEqual(restBody<{ messageStatuses: unknown[] }>(answer).messageStatuses.length, 1)
      expectEqual(header(answer, 'content-length'), String(answer.body.length))
    },
  },
  {
    of: ['2.15'],
    title: 'without CORS_ORIGINS a preflight request is 405, and no answer has headers of CORS',
    run: async (gateway) => {
      const preflight = [
        ['Origin', 'https://elsewhere.example'],
        ['Access-Control-Request-Method', 'GET'],
      ] as const
      const options = await gateway.rest('/credits/balance', { by: null, method: 'OPTIONS', headers: preflight })
      expectRestError(options, 405)
      const answer = await gateway.rest('/credits/balance', { headers: preflight.slice(0, 1) })
      expectEnvelope(answer, 200)
      for (const each of [options, answer]) expectEqual(header(each, 'access-control-allow-origin'), undefined)
    },
  },
  {
    of: ['2.15'],
    title: 'a preflight request of an origin of CORS_ORIGINS is 204, and answers name the origin',
    run: async (gateway) => {
      const origin = gateway.configured(gateway.configuration.corsOrigin, 'corsOrigin')
      const preflight = [
        ['Origin', origin],
        ['Access-Control-Request-Method', 'GET'],
      ] as const
      const allowed = await gateway.rest('/credits/balance', { by: null, method: 'OPTIONS', headers: preflight })
      expectEqual([allowed.status, header(allowed, 'access-control-allow-origin')], [204, origin])
      const answer = await gateway.rest('/credits/balance', { headers: preflight.slice(0, 1) })
      expectEqual(header(answer, 'access-control-allow-origin'), origin)
    },
  },
]
