import { randomUUID } from 'node:crypto'
import type { Case } from '../../case.ts'
import { expectAsp, expectEqual, expectRest, expectRestError, expectXml, expectXmlError } from '../../expectations.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { farAhead } from '../../times.ts'
import { balance, fill, untilCode } from '../../verbs.ts'
import { numbersOf, sendQuery } from '../query-string/sending.ts'
import { askXml, idList, idsOf, sendMessages, sendXml, statusXml } from '../xml/documents.ts'

const reference = 'order 7; "a" & é'
const inXml = 'order 7; "a" &amp; é'

const xmlMessage = (gateway: TestedGateway, called: string): string =>
  `<Message><MessageText>a</MessageText><Reference>${called}</Reference>` +
  `<Numbers><Number>${gateway.number}</Number></Numbers></Message>`

async function restSend(gateway: TestedGateway, called: unknown, more: object = {}) {
  const recipients = [{ mobileNumber: gateway.number, reference: called }, { mobileNumber: gateway.number }]
  const answer = await gateway.rest('/sms/outgoing/send', {
    body: { message: 'a', recipients, scheduledTime: farAhead(), ...more },
  })
  const ids = Array.from(answer.text.matchAll(/"apiMessageId":(\d+)/g), ([, id]) => Number(id))
  gateway.leave(gateway.main, ids)
  return { answer, ids }
}

export const referenceCases: readonly Case[] = [
  {
    of: ['1.28'],
    title: 'a reference of any interface is in the status of all three interfaces, and a message without one has none',
    parts: 4,
    run: async (gateway) => {
      const [named = 0, plain = 0] = (await restSend(gateway, ` ${reference} `, { scheduledTime: null })).ids
      const aspSend = { message: 'a', numbers: gateway.number, reference }
      const [asp = 0] = numbersOf(await gateway.asp('batchmessage.asp', aspSend))
      const xmlSend = `<Messages>${xmlMessage(gateway, inXml)}</Messages>`
      const [xml = 0] = idsOf(await askXml(gateway, sendXml, xmlSend))
      for (const id of [named, plain, asp, xml]) {
        await untilCode(gateway, id, 0)
        const has = id !== plain
        const rest = await gateway.rest('/sms/outgoing/status', { body: [id] })
        const end = has ? `"statusCode":0,"reference":${JSON.stringify(reference)}}]}` : '"statusCode":0}]}'
        expectEqual(rest.text.endsWith(end), true, rest.text)
        const text = (await gateway.asp('requestbatch.asp', { messageid: String(id) })).text
        expectEqual(text.split(';').slice(3).join(';'), has ? '0;order 7%3B "a" %26 é&' : '0&')
        const status = await askXml(gateway, statusXml, idList([id]))
        expectXml(
          status,
          has ? /<StatusCode>0<\/StatusCode><Reference>order 7/ : /<StatusCode>0<\/StatusCode><\/Status/,
        )
      }
      const [waits = 0, other = 0] = (await restSend(gateway, 'waits')).ids
      const listed = await gateway.rest('/sms/scheduled?limit=1000')
      expectEqual(new RegExp(`"apiMessageId":${waits},[^}]*,"reference":"waits"}`).test(listed.text), true)
      expectEqual(new RegExp(`"apiMessageId":${other},[^}]*reference`).test(listed.text), false)
    },
  },
  {
    of: ['1.28'],
    title:
      'a reference that is too long or has control characters is refused by each interface, a blank one counts as missing, and a send that differs in it is another request',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const before = await fill(gateway, 5)
      const toNumber = (called: unknown) => ({
        message: 'a',
        recipients: [{ mobileNumber: gateway.number, reference: called }],
        scheduledTime: farAhead(),
      })
      const rest = (called: unknown, headers: [string, string][] = []) =>
        gateway.rest('/sms/outgoing/send', { by: sub, body: toNumber(called), headers })
      for (const wrong of ['x'.repeat(65), 'a\nb', 'a\u0000b', 'a\u0085b', 7])
        expectRestError(await rest(wrong), 422, /recipients\.0\.reference/)
      const aspError = 'Error="reference must be up to 64 characters without control characters"'
      for (const wrong of ['x'.repeat(65), 'a%0Ab', 'a%00b'])
        expectAsp(await sendQuery(gateway, `message=a&numbers=${gateway.number}&reference=${wrong}`, sub), aspError)
      const xmlError = 'Reference must be up to 64 characters without control characters'
      for (const wrong of ['x'.repeat(65), 'a\tb'])
        expectXmlError(await sendMessages(gateway, xmlMessage(gateway, wrong), sub), sendXml.response, xmlError)
      expectEqual(await balance(gateway, sub), before)
      for (const called of [null, '', ' ', 'é'.repeat(64)]) {
        const { answer } = await restSend(gateway, called)
        expectRest(answer, /"accepted":true/)
      }
      const key: [string, string] = ['Idempotency-Key', randomUUID()]
      const first = await rest('a', [key])
      gateway.leave(
        sub,
        Array.from(first.text.matchAll(/"apiMessageId":(\d+)/g), ([, id]) => Number(id)),
      )
      expectRest(first, /"accepted":true/)
      expectRestError(await rest('b', [key]), 422)
    },
  },
]
