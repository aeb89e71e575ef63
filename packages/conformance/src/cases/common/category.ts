import { randomUUID } from 'node:crypto'
import type { Case } from '../../case.ts'
import { expectAsp, expectEqual, expectRest, expectRestError, expectXml, expectXmlError } from '../../expectations.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { farAhead } from '../../times.ts'
import { balance, fill, untilCode } from '../../verbs.ts'
import { numbersOf, sendQuery } from '../query-string/sending.ts'
import { askXml, idList, idsOf, sendMessages, sendXml, statusXml } from '../xml/documents.ts'

const label = 'invoices'
const tooLong = 'x'.repeat(33)
const problem = 'must be up to 32 characters without control characters'

const restBody = ({ number }: TestedGateway, category: unknown, more: object = {}) => ({
  ...{ message: 'a', recipients: [{ mobileNumber: number }], category },
  ...more,
})

const xmlMessage = ({ number }: TestedGateway, category: string): string =>
  `<Message><MessageText>a</MessageText><Category>${category}</Category>` +
  `<Numbers><Number>${number}</Number></Numbers></Message>`

const restIds = (text: string): readonly number[] =>
  Array.from(text.matchAll(/"apiMessageId":(\d+)/g), ([, id]) => Number(id))

/** Cases for the category of a message, which is an addition to the specification. */
export const categoryCases: readonly Case[] = [
  {
    of: ['1.30'],
    title: 'a category of any interface is in the status of all three interfaces, and a message without one has none',
    parts: 4,
    run: async (gateway) => {
      const restSend = async (category: unknown, more: object = {}) =>
        restIds((await gateway.rest('/sms/outgoing/send', { body: restBody(gateway, category, more) })).text)[0] ?? 0
      const aspSend = { message: 'a', numbers: gateway.number, category: label }
      const ids = [
        await restSend(` ${label} `),
        ...numbersOf(await gateway.asp('batchmessage.asp', aspSend)),
        ...idsOf(await askXml(gateway, sendXml, `<Messages>${xmlMessage(gateway, label)}</Messages>`)),
      ]
      expectEqual(ids.length, 3)
      const plain = await restSend(undefined)
      for (const id of [...ids, plain]) {
        await untilCode(gateway, id, 0)
        const rest = await gateway.rest('/sms/outgoing/status', { body: [id] })
        const end = id === plain ? '"statusCode":0}]}' : `"statusCode":0,"category":"${label}"}]}`
        expectEqual(rest.text.endsWith(end), true, rest.text)
        const text = (await gateway.asp('requestbatch.asp', { messageid: String(id) })).text
        expectEqual(text.split(';').slice(3).join(';'), id === plain ? '0&' : `0;;${label}&`)
        const status = await askXml(gateway, statusXml, idList([id]))
        expectXml(
          status,
          id === plain ? /<StatusCode>0<\/StatusCode><\/Status/ : /<StatusCode>0<\/StatusCode><Category>invoices</,
        )
      }
      const waits = await restSend(label, { scheduledTime: farAhead() })
      gateway.leave(gateway.main, [waits])
      const listed = await gateway.rest('/sms/scheduled?limit=1000')
      expectEqual(new RegExp(`"apiMessageId":${waits},[^}]*,"category":"${label}"}`).test(listed.text), true)
    },
  },
  {
    of: ['1.30'],
    title: 'a category that is unusable is refused by each interface, and a send that differs in it is another request',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const before = await fill(gateway, 5)
      for (const wrong of [tooLong, 'a\nb', 7, true])
        expectRestError(
          await gateway.rest('/sms/outgoing/send', { by: sub, body: restBody(gateway, wrong) }),
          422,
          /category/,
        )
      const query = `message=a&numbers=${gateway.number}&category=`
      for (const wrong of [tooLong, 'a%0Ab', 'a%00'])
        expectAsp(await sendQuery(gateway, query + wrong, sub), `Error="category ${problem}"`)
      expectXmlError(
        await sendMessages(gateway, xmlMessage(gateway, tooLong), sub),
        sendXml.response,
        `Category ${problem}`,
      )
      expectEqual(await balance(gateway, sub), before)

      const scheduledTime = farAhead()
      const key = randomUUID()
      const send = async (category: unknown) => {
        const headers: [string, string][] = [['Idempotency-Key', key]]
        const body = restBody(gateway, category, { scheduledTime })
        const answer = await gateway.rest('/sms/outgoing/send', { by: sub, body, headers })
        gateway.leave(sub, restIds(answer.text))
        return answer
      }
      for (const blank of [null, '', ' ']) expectRest(await send(blank), /"accepted":true/)
      expectRestError(await send('invoices'), 422)
    },
  },
]
