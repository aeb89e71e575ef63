import type { Case } from '../../case.ts'
import { expectAsp, expectEqual } from '../../expectations.ts'
import type { Answer } from '../../http.ts'
import type { Keyed, TestedGateway } from '../../tested-gateway.ts'
import { farAhead, instantOf, minuteFromNow } from '../../times.ts'
import { balance, fill, price, schedule, send, untilCode } from '../../verbs.ts'

/** Returns the ids with this result in a list of pairs. */
export const idsOf = (answer: Answer, result: string): number[] =>
  Array.from(answer.text.matchAll(/([^=&]*)=([^&]*)&/g)).flatMap(([, id, found]) =>
    found === result ? Number(id) : [],
  )

/** Returns the message ids in the answer of a send. */
export const numbersOf = (answer: Answer): number[] =>
  Array.from(answer.text.matchAll(/=(\d+)&/g), ([, id]) => Number(id))

/** Sends with a query exactly as written. Accepted messages are deleted after the case. */
export async function sendQuery(gateway: TestedGateway, query: string, by: Keyed = gateway.main): Promise<Answer> {
  const answer = await gateway.query('batchmessage.asp', `apikey=${by.key}&scheduled=${farAhead()}&${query}`)
  gateway.leave(by, numbersOf(answer))
  return answer
}

const unknown = '9007199254740991'

export const aspSendingCases: readonly Case[] = [
  {
    of: ['1.10', 'spec 7.2', 'spec 4.2, rule 1'],
    title: 'batchmessage: credentials, then no message, then no numbers, then too many of them',
    run: async (gateway) => {
      const tooMany = Array.from({ length: 101 }, () => '1').join(';')
      expectAsp(await gateway.query('batchmessage.asp', `apikey=x&numbers=${tooMany}`), 'FAIL&')
      expectAsp(await sendQuery(gateway, `numbers=${tooMany}`), 'Error="No message given"')
      for (const blank of ['', '%20', '+%0A'])
        expectAsp(await sendQuery(gateway, `message=${blank}`), 'Error="No message given"')
      for (const blank of ['', ';', '%20;+'])
        expectAsp(await sendQuery(gateway, `message=a&numbers=${blank}`), 'Error="No numbers supplied"')
      expectAsp(await sendQuery(gateway, 'message=a'), 'Error="No numbers supplied"')
      expectAsp(await sendQuery(gateway, `message=a&numbers=${tooMany}`), 'Error="Too many numbers supplied"')
    },
  },
  {
    of: ['3.2', 'spec 4.2, rule 2', '1.8', '1.9', '3.6', 'spec 4.2'],
    title:
      'one pair per number, in request order, each followed by &, also the last; the same number twice is two messages',
    run: async (gateway) => {
      const { number } = gateway
      const answer = await sendQuery(gateway, `message=a&numbers=${number};%2B${number};0821234567;${number}`)
      const [first, second] = numbersOf(answer)
      expectAsp(answer, `${number}=${first}&+${number}=BADDEST&0821234567=BADDEST&${number}=${second}&`)
      expectEqual(typeof first === 'number' && typeof second === 'number' && second !== first, true)
    },
  },
  {
    of: ['1.8', 'spec 2', 'spec 4.2, rule 1'],
    title: 'numbers that cannot receive messages are BADDEST: prefixes, local forms, lengths, unknown countries',
    run: async (gateway) => {
      const wrong = [
        '0027825550101',
        '+27825550101',
        '2782555010',
        '278255501012',
        '825550101',
        '27',
        '1234567890123456',
        '27-82-555',
        '999825550101',
        '27825550101x',
        '２７825550101',
      ]
      const answer = await gateway.asp('batchmessage.asp', {
        message: 'a',
        numbers: wrong.join(';'),
        scheduled: farAhead(),
      })
      gateway.leave(gateway.main, numbersOf(answer))
      expectAsp(answer, wrong.map((number) => `${number}=BADDEST&`).join(''))
    },
  },
  {
    of: ['spec 4.2, rule 1', 'spec 3', '1.1', 'spec 1', 'spec 2'],
    title: 'scheduled: a time ahead waits, a past or unreadable one sends at once',
    parts: 3,
    run: async (gateway) => {
      const { number } = gateway
      for (const scheduled of [minuteFromNow(-5), '202602301200', 'tomorrow']) {
        const answer = await gateway.asp('batchmessage.asp', { message: 'a', numbers: number, scheduled })
        const [id = 0] = numbersOf(answer)
        await untilCode(gateway, id, 0)
      }
      const [waits = 0] = numbersOf(await sendQuery(gateway, `message=a&numbers=${number}`))
      expectAsp(await gateway.asp('requestbatch.asp', { messageid: String(waits) }), `${waits}=NOTFOUND&`)
    },
  },
  {
    of: ['spec 4.2, rule 3', '3.2', '3.5', '1.16', 'spec 3', 'spec 1', 'spec 4.2'],
    title: 'requestbatch: four parts for a sent message, NOTFOUND alone for a waiting or unknown one, in request order',
    parts: 1,
    run: async (gateway) => {
      const before = Math.floor(Date.now() / 1000) * 1000
      const skewMs = (gateway.configuration.clockSeconds ?? 5) * 1000
      const [sent] = await send(gateway, { numbers: [gateway.number], scheduledTime: null })
      const id = sent?.apiMessageId ?? 0
      const waiting = await schedule(gateway)
      const foreign = await schedule(gateway, { by: gateway.stranger })
      await untilCode(gateway, id, 0)
      const answer = await gateway.asp('requestbatch.asp', {
        messageid: `${waiting};${id};${unknown};abc;${foreign}; ${id} ;`,
      })
      const [, time = ''] = /=DELIVERED;([^&]*);0&/.exec(answer.text) ?? []
      expectEqual(/^\d{4}\/\d\d\/\d\d;\d\d:\d\d:\d\d$/.test(time), true, answer.text)
      const at = instantOf(time)
      expectEqual(
        at >= before - skewMs && at <= Date.now() + skewMs,
        true,
        `the time ${time} is not when it was delivered, at GMT+2`,
      )
      const delivered = `${id}=DELIVERED;${time};0&`
      expectAsp(
        answer,
        `${waiting}=NOTFOUND&${delivered}${unknown}=NOTFOUND&abc=NOTFOUND&${foreign}=NOTFOUND&${delivered}`,
      )
      expectAsp(await gateway.asp('requestbatch.asp', { messageid: String(id) }), delivered)
    },
  },
  {
    of: ['1.15', '3.5', 'spec 3', 'spec 4.2', '1.4'],
    title:
      'deletescheduled: DELETED once with its refund, NOTFOUND for repeated, unknown and foreign ids, SENT for a sent message',
    alone: 'sub',
    parts: 1,
    run: async (gateway) => {
      const { sub } = gateway
      const before = await fill(gateway, 5)
      const [sent] = await send(gateway, { by: sub, numbers: [gateway.number], scheduledTime: null })
      const id = sent?.apiMessageId ?? 0
      const waiting = await schedule(gateway, { by: sub })
      const foreign = await schedule(gateway)
      await untilCode(gateway, id, 0, sub)
      expectAsp(
        await gateway.asp(
          'deletescheduled.asp',
          { messageid: `${waiting};${waiting};${id};${unknown};x;${foreign}` },
          sub,
        ),
        `${waiting}=DELETED&${waiting}=NOTFOUND&${id}=SENT&${unknown}=NOTFOUND&x=NOTFOUND&${foreign}=NOTFOUND&`,
      )
      expectEqual(await balance(gateway, sub), before - price(gateway))
      expectAsp(await gateway.asp('deletescheduled.asp', { messageid: String(waiting) }, sub), `${waiting}=NOTFOUND&`)
      expectEqual(await balance(gateway, sub), before - price(gateway))
    },
  },
  {
    of: ['1.15', '1.16'],
    title: 'a message sent for a past time counts as never scheduled: delete answers SENT',
    parts: 1,
    run: async (gateway) => {
      const [id = 0] = numbersOf(
        await gateway.asp('batchmessage.asp', { message: 'a', numbers: gateway.number, scheduled: minuteFromNow(-5) }),
      )
      expectAsp(await gateway.asp('deletescheduled.asp', { messageid: String(id) }), `${id}=SENT&`)
    },
  },
  {
    of: ['spec 4.2', '1.23', 'spec 2', 'spec 4.2, rule 4', '3.2', 'spec 3'],
    title: 'listoptouts: an entry by hand has the marker text and no SentMessageID; every call returns all entries',
    run: async (gateway) => {
      const number = gateway.configured(gateway.configuration.numbers.optedOutByHand, 'numbers.optedOutByHand')
      const entry = new RegExp(
        `(^|&)CLI=${number};DateReceived=\\d{12};Message=\\* MANUALLY ADDED BY USER \\*;SentMessageID=&`,
      )
      for (let call = 0; call < 2; call++) expectAsp(await gateway.asp('listoptouts.asp'), entry)
    },
  },
]
