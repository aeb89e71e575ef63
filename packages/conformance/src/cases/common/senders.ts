import { randomUUID } from 'node:crypto'
import type { Case } from '../../case.ts'
import { expectAsp, expectEqual, expectRest, expectRestError, expectXmlError } from '../../expectations.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { farAhead } from '../../times.ts'
import { balance, fill } from '../../verbs.ts'
import { numbersOf, sendQuery } from '../query-string/sending.ts'
import { idsOf, sendMessages, sendXml } from '../xml/documents.ts'

const xmlMessage = (gateway: TestedGateway, sender: string): string =>
  `<Message><MessageText>a</MessageText><Sender>${sender}</Sender>` +
  `<Numbers><Number>${gateway.number}</Number></Numbers></Message>`

const restIds = (text: string): readonly number[] =>
  Array.from(text.matchAll(/"apiMessageId":(\d+)/g), ([, id]) => Number(id))

/** Valid senders that no account of the suite may use. */
const notAllowed = ['Zx Nobody 9', '9'.repeat(15)]
const none = ['12', '9'.repeat(16), 'AcmeAndSonsX', '+-*', 'Жук']

export const senderCases: readonly Case[] = [
  {
    of: ['1.27'],
    title:
      'a sender that is invalid or not allowed refuses the whole call of each interface; a blank one counts as missing',
    alone: 'sub',
    run: async (gateway) => {
      const { sub, number } = gateway
      // Computed once, so that a repeated request is the same one even if a minute ends in between.
      const [before, scheduledTime] = [await fill(gateway, 5), farAhead()]
      const rest = (sender: unknown, more: object = {}, key = randomUUID()) =>
        gateway.rest('/sms/outgoing/send', {
          by: sub,
          headers: [['Idempotency-Key', key]],
          body: { message: 'a', recipients: [{ mobileNumber: number }], sender, scheduledTime, ...more },
        })
      const query = (sender: string) =>
        sendQuery(gateway, `message=a&numbers=${number}&sender=${encodeURIComponent(sender)}`, sub)
      for (const wrong of [...notAllowed, ...none, 'A\nB', 12345, {}]) expectRestError(await rest(wrong), 422, /sender/)
      for (const wrong of [...notAllowed, ...none, 'A\nB', 'A\0'])
        expectAsp(await query(wrong), 'Error="Invalid sender"')
      for (const wrong of [...notAllowed, ...none])
        expectXmlError(await sendMessages(gateway, xmlMessage(gateway, wrong), sub), sendXml.response, 'Invalid sender')
      const two = `${xmlMessage(gateway, '')}${xmlMessage(gateway, 'Zx Nobody 9')}`
      expectXmlError(await sendMessages(gateway, two, sub), sendXml.response, 'Invalid sender')
      expectEqual(await balance(gateway, sub), before)

      const key = randomUUID()
      for (const blank of [null, '', ' ']) {
        const answer = await rest(blank, {}, key)
        expectRest(answer, /"accepted":true/)
        gateway.leave(sub, restIds(answer.text))
      }
      // This request differs from the first one with the key. It may be refused because of its sender or its key, but
      // must not be executed.
      expectRestError(await rest('Zx Nobody 9', {}, key), 422)
      gateway.leave(sub, numbersOf(await query(' ')))
      gateway.leave(sub, idsOf(await sendMessages(gateway, xmlMessage(gateway, ' '), sub)))
    },
  },
]
