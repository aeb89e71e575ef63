import { randomUUID } from 'node:crypto'
import type { Case } from '../../case.ts'
import { expectAsp, expectEqual, expectRest, expectRestError, expectXmlError } from '../../expectations.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { farAhead } from '../../times.ts'
import { balance, fill, untilCode } from '../../verbs.ts'
import { numbersOf, sendQuery } from '../query-string/sending.ts'
import { askXml, idsOf, sendMessages, sendXml } from '../xml/documents.ts'

const xmlMessage = (gateway: TestedGateway, minutes: string): string =>
  `<Message><MessageText>a</MessageText><ValidityMinutes>${minutes}</ValidityMinutes>` +
  `<Numbers><Number>${gateway.number}</Number></Numbers></Message>`

const restBody = (gateway: TestedGateway, validityMinutes: unknown, more: object = {}) => ({
  ...{ message: 'a', recipients: [{ mobileNumber: gateway.number }], validityMinutes },
  ...more,
})

const restIds = (text: string): readonly number[] =>
  Array.from(text.matchAll(/"apiMessageId":(\d+)/g), ([, id]) => Number(id))

export const validityCases: readonly Case[] = [
  {
    of: ['1.29'],
    title: 'a validity of any interface does not change the result of a send',
    parts: 4,
    run: async (gateway) => {
      const sent = await gateway.rest('/sms/outgoing/send', { body: restBody(gateway, 4320) })
      const aspSend = { message: 'a', numbers: gateway.number, validity: '10' }
      const xmlSend = `<Messages>${xmlMessage(gateway, '10')}</Messages>`
      const ids = [
        ...restIds(sent.text),
        ...numbersOf(await gateway.asp('batchmessage.asp', aspSend)),
        ...idsOf(await askXml(gateway, sendXml, xmlSend)),
      ]
      expectEqual(ids.length, 3)
      for (const id of ids) await untilCode(gateway, id, 0)
    },
  },
  {
    of: ['1.29'],
    title:
      'a validity that is invalid is refused by each interface, a blank one counts as missing, and a send that differs in it is another request',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const before = await fill(gateway, 5)
      const query = (minutes: string) => `message=a&numbers=${gateway.number}&validity=${minutes}`
      for (const wrong of [0, 4321, 1.5, -1, '60', true])
        expectRestError(
          await gateway.rest('/sms/outgoing/send', { by: sub, body: restBody(gateway, wrong) }),
          422,
          /validityMinutes/,
        )
      for (const wrong of ['0', '4321', '1.5', '-1', 'x', '1e3', '%00'])
        expectAsp(await sendQuery(gateway, query(wrong), sub), 'Error="validity must be 1 to 4320 minutes"')
      for (const wrong of ['0', '4321', '1.5', 'x'])
        expectXmlError(
          await sendMessages(gateway, xmlMessage(gateway, wrong), sub),
          sendXml.response,
          'ValidityMinutes must be 1 to 4320',
        )
      expectEqual(await balance(gateway, sub), before)

      // Computed once, so that a repeated request is the same one.
      const scheduledTime = farAhead()
      const send = async (minutes: unknown, key: string) => {
        const headers: [string, string][] = [['Idempotency-Key', key]]
        const body = restBody(gateway, minutes, { scheduledTime })
        const answer = await gateway.rest('/sms/outgoing/send', { by: sub, body, headers })
        gateway.leave(sub, restIds(answer.text))
        return answer
      }
      const key = randomUUID()
      for (const blank of [null, '', ' ']) expectRest(await send(blank, key), /"accepted":true/)
      expectRestError(await send(60, key), 422)
    },
  },
]
