import type { Case } from '../../case.ts'
import { expectAsp, expectEqual, expectRestError, expectXmlError } from '../../expectations.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { balance, fill, untilCode } from '../../verbs.ts'
import { numbersOf, sendQuery } from '../query-string/sending.ts'
import { askXml, idsOf, sendMessages, sendXml } from '../xml/documents.ts'

const xmlMessage = ({ number }: TestedGateway, more: string): string =>
  `<Message><MessageText>a</MessageText>${more}<Numbers><Number>${number}</Number></Numbers></Message>`

const restBody = ({ number }: TestedGateway, more: object) => ({
  ...{ message: 'a', recipients: [{ mobileNumber: number }] },
  ...more,
})

const restIds = (text: string): readonly number[] =>
  Array.from(text.matchAll(/"apiMessageId":(\d+)/g), ([, id]) => Number(id))

/**
 * Cases for message priorities and for flash texts, which phones do not store. Both are additions to the specification.
 */
export const urgencyCases: readonly Case[] = [
  {
    of: ['2.4', '3.5', '4.6'],
    title: 'a priority and flash of any interface do not change the result of a send',
    parts: 6,
    run: async (gateway) => {
      const ids: number[] = []
      for (const more of [
        { priority: 3, flash: true },
        { priority: 0, flash: false },
        { priority: null, flash: ' ' },
      ])
        ids.push(...restIds((await gateway.rest('/sms/outgoing/send', { body: restBody(gateway, more) })).text))
      const aspSend = { message: 'a', numbers: gateway.number, priority: '1', flash: 'TRUE' }
      ids.push(...numbersOf(await gateway.asp('batchmessage.asp', aspSend)))
      for (const more of ['<Priority>2</Priority><Flash>1</Flash>', '<Priority/><Flash/>'])
        ids.push(...idsOf(await askXml(gateway, sendXml, `<Messages>${xmlMessage(gateway, more)}</Messages>`)))
      expectEqual(ids.length, 6)
      for (const id of ids) await untilCode(gateway, id, 0)
    },
  },
  {
    of: ['2.4', '3.5', '4.6'],
    title: 'a priority or flash that is invalid is refused by each interface, and nothing is charged',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const before = await fill(gateway, 5)
      const query = `message=a&numbers=${gateway.number}`
      for (const [name, wrong] of [
        ['priority', [4, -1, 1.5, '2', true]],
        ['flash', [1, 'true', {}]],
      ] as const) {
        for (const value of wrong)
          expectRestError(
            await gateway.rest('/sms/outgoing/send', { by: sub, body: restBody(gateway, { [name]: value }) }),
            422,
            new RegExp(name),
          )
      }
      expectAsp(await sendQuery(gateway, `${query}&priority=4`, sub), 'Error="priority must be 0 to 3"')
      expectAsp(await sendQuery(gateway, `${query}&flash=yes`, sub), 'Error="flash must be true or false"')
      for (const [more, fields] of [
        ['<Priority>4</Priority>', 'Priority must be 0 to 3'],
        ['<Flash>yes</Flash>', 'Flash must be true or false'],
      ] as const)
        expectXmlError(await sendMessages(gateway, xmlMessage(gateway, more), sub), sendXml.response, fields)
      expectEqual(await balance(gateway, sub), before)
    },
  },
]
