import type { Case } from '../../case.ts'
import { expectEqual, expectRest, expectRestError, expectXml, restBody } from '../../expectations.ts'
import { minuteFromNow } from '../../times.ts'
import { balance, fill, literal, price, schedule, statuses } from '../../verbs.ts'
import { idsOf, numbersOf, sendQuery } from '../query-string/sending.ts'
import { askXml, idList, idsOf as idsOfXml, message, sendMessages, statusXml } from '../xml/documents.ts'

const status = '/sms/outgoing/status'
const remove = '/sms/scheduled/delete'
const unknown = 9_007_199_254_740_991

const wrongArrays: readonly string[] = [
  '[]',
  '{}',
  '5',
  'null',
  '"5"',
  '["5"]',
  '[1,null]',
  '[1e3]',
  '[1E3]',
  '[1.0]',
  '[1.5]',
  '[-1]',
  '[0]',
  '[9007199254740992]',
  '[99999999999999999999]',
  '[true]',
  '[[1]]',
  '[{}]',
  `[${Array.from({ length: 1001 }, (_, i) => i + 1).join()}]`,
]

export const idCases: readonly Case[] = [
  ...[status, remove].map((path): Case => ({
    of: ['2.9', 'spec 7.1', 'spec 8', 'spec 2'],
    title: `${path}: only an array of 1 to 1000 integers written in digits is accepted`,
    run: async (gateway) => {
      for (const body of wrongArrays) {
        const answer = await gateway.rest(path, { body })
        expectEqual(answer.status, 422, `${body.slice(0, 60)}: ${answer.text.slice(0, 200)}`)
        expectRestError(answer, 422)
      }
      const many = restBody<Record<string, unknown[]>>(
        await gateway.rest(path, { body: Array.from({ length: 1000 }, () => unknown) }),
      )
      expectEqual((many['messageStatuses'] ?? many['deletedMessageStatuses'])?.length, 1000)
      restBody(await gateway.rest(path, { body: ` [ 1 ,\n${unknown}\t] ` }))
    },
  })),
  {
    of: ['2.9'],
    title: 'one wrong id refuses the whole request: nothing is deleted',
    run: async (gateway) => {
      const id = await schedule(gateway)
      expectRestError(await gateway.rest(remove, { body: `[${id},"x"]` }), 422)
      const [found] = restBody<{ messageStatuses: { statusCode: number }[] }>(
        await gateway.rest(status, { body: [id] }),
      ).messageStatuses
      expectEqual(found?.statusCode, -1)
    },
  },
  {
    of: ['1.2', 'spec 1', 'spec 2'],
    title:
      'ids are integers of one sequence for all accounts and interfaces: all differ, and each interface knows them',
    run: async (gateway) => {
      const { number } = gateway
      const ids: number[] = []
      for (const by of [gateway.main, gateway.stranger]) {
        ids.push(await schedule(gateway, { by }))
        ids.push(...numbersOf(await sendQuery(gateway, `message=a&numbers=${number}`, by)))
        ids.push(...idsOfXml(await sendMessages(gateway, message('a', [number]), by)))
      }
      expectEqual(ids.length, 6)
      expectEqual(new Set(ids).size, 6)
      expectEqual(
        ids.every((id) => Number.isSafeInteger(id) && id > 0),
        true,
        ids.join(),
      )
      const own = ids.slice(0, 3)
      expectEqual(
        (await statuses(gateway, own)).map(({ statusCode }) => statusCode),
        [-1, -1, -1],
      )
      expectXml(
        await askXml(gateway, statusXml, idList(own)),
        /^(?:(?!<StatusCode>).)*(?:<StatusCode>-1<(?:(?!<StatusCode>).)*){3}$/s,
      )
      expectEqual(idsOf(await gateway.asp('deletescheduled.asp', { messageid: own.join(';') }), 'DELETED'), own)
    },
  },
  {
    of: ['2.7', '1.16', 'spec 4.1', '1.2', 'spec 3'],
    title: 'the status of a waiting, an unknown and a foreign id, in request order, byte for byte',
    run: async (gateway) => {
      const number = gateway.number
      const waiting = await schedule(gateway, { number })
      const foreign = await schedule(gateway, { number, by: gateway.stranger })
      const answer = await gateway.rest(status, { body: [unknown, waiting, foreign, waiting] })
      const times = Array.from(answer.text.matchAll(/"statusTime":"(\d{12})"/g), ([, time = '']) => time)
      expectEqual(
        times.every((time) => time >= minuteFromNow(-1) && time <= minuteFromNow(1)),
        true,
        `not now: ${times.join()}`,
      )
      const missing = (id: number, at: number) =>
        `{"apiMessageId":${id},"mobileNumber":"","statusDelivered":false,"statusErrorCode":"NOTFOUND","statusTime":"${times[at]}",` +
        `"creditCost":0.0,"status":"NOTFOUND","statusCode":-2}`
      const queued = (at: number) =>
        `{"apiMessageId":${waiting},"mobileNumber":"${number}","statusDelivered":false,"statusErrorCode":"INQUEUE","statusTime":"${times[at]}",` +
        `"creditCost":${literal(price(gateway))},"status":"NOTFOUND","statusCode":-1}`
      expectRest(answer, `,"messageStatuses":[${missing(unknown, 0)},${queued(1)},${missing(foreign, 2)},${queued(3)}]`)
    },
  },
  {
    of: ['2.8', '1.15', '1.2', 'spec 3', 'spec 4.1', 'spec 1', '1.4'],
    title:
      'delete answers in request order and refunds once: deleted, repeated, unknown and foreign ids, byte for byte',
    alone: 'sub',
    run: async (gateway) => {
      const { sub, number } = gateway
      const before = await fill(gateway, 5)
      const id = await schedule(gateway, { by: sub })
      const foreign = await schedule(gateway)
      expectEqual(await balance(gateway, sub), before - price(gateway))
      const missing = (one: number) =>
        `{"apiMessageId":${one},"mobileNumber":"","deleted":false,"deleteError":"NOTFOUND","creditCost":0.0}`
      expectRest(
        await gateway.rest(remove, { by: sub, body: [unknown, id, id, foreign] }),
        `,"deletedMessageStatuses":[${missing(unknown)},{"apiMessageId":${id},"mobileNumber":"${number}","deleted":true,"deleteError":"",` +
          `"creditCost":${literal(price(gateway))}},${missing(id)},${missing(foreign)}]`,
      )
      expectEqual(await balance(gateway, sub), before)
      expectRest(await gateway.rest(remove, { by: sub, body: [id] }), `,"deletedMessageStatuses":[${missing(id)}]`)
      expectEqual(await balance(gateway, sub), before)
    },
  },
  {
    of: ['1.16', '2.7', 'spec 3'],
    title: 'a deleted message is SENDINGFAILED 102 and costs nothing; one of another account is not deleted',
    run: async (gateway) => {
      const id = await schedule(gateway)
      restBody(await gateway.rest(remove, { body: [id] }))
      expectRest(
        await gateway.rest(status, { body: [id] }),
        /"statusDelivered":false,"statusErrorCode":"SENDINGFAILED","statusTime":"\d{12}","creditCost":0\.0,"status":"SENDINGFAILED","statusCode":102\}\]$/,
      )
      const foreign = await schedule(gateway)
      restBody(await gateway.rest(remove, { by: gateway.stranger, body: [foreign] }))
      expectRest(await gateway.rest(status, { body: [foreign] }), /"statusErrorCode":"INQUEUE".*"statusCode":-1\}\]$/)
    },
  },
]
