import type { Case } from '../../case.ts'
import { expectAsp, expectEqual, expectRest, expectXml, restBody } from '../../expectations.ts'
import type { Keyed, TestedGateway } from '../../tested-gateway.ts'
import { minuteFromNow } from '../../times.ts'
import { balance, converse, fill, incoming, schedule, send, until, untilCode, writeBack } from '../../verbs.ts'
import { expectRefused } from './refusals.ts'
import { askXml, codeXml, repliesXml } from '../xml/documents.ts'

/** Returns the items of one sender in a response of the query-string interface, each with its `&`. */
const itemsOf = (text: string, cli: string): string[] =>
  (text.match(/[^&]*&/g) ?? []).filter((item) => item.includes(`CLI=${cli};`))

/** Returns the elements of one sender in a response of the XML interface. */
const elementsOf = (text: string, cli: string): string[] =>
  (text.match(/<(Reply|SCmessage)>.*?<\/\1>/gs) ?? []).filter((element) => element.includes(`<CLI>${cli}</CLI>`))

const takeAsp = async (
  gateway: TestedGateway,
  path: string,
  cli: string,
  by?: Keyed,
  parameters = {},
): Promise<string[]> => itemsOf(expectAsp(await gateway.asp(path, parameters, by), /^([^&]*&)*$/), cli)

const takeXml = async (
  gateway: TestedGateway,
  endpoint: typeof repliesXml,
  cli: string,
  by?: Keyed,
): Promise<string[]> => elementsOf(expectXml(await askXml(gateway, endpoint, '', by), /./), cli)

async function optOuts(gateway: TestedGateway, by: Keyed, number: string) {
  const answer = restBody<{ incomingOptoutMessages: Readonly<Record<string, unknown>>[] }>(
    await gateway.rest('/sms/incoming/optout', { by }),
  )
  return answer.incomingOptoutMessages.filter((entry) => entry['mobileNumber'] === number)
}

/** Opts the number in again after the case, if a failure of the case has left the number opted out. */
function optInAgain(gateway: TestedGateway, by: Keyed, from: string): void {
  gateway.afterwards(async () => {
    if ((await optOuts(gateway, by, from)).length > 0) await writeBack(gateway, { from, text: 'START', by })
  })
}

const stops = [
  'Stop',
  'END',
  'cancel',
  'Unsubscribe',
  'quIT',
  ' sToP\n',
  'STOP SENDING me this',
  'opt out, please',
  'Opt-Out',
  'OPTxOUT',
]
const noStops = ['Please stop', 'stopp', 'optout', 'opt  out', 'endless']

export const replyCases: readonly Case[] = [
  {
    of: ['1.20', '3.6', '1.18', '1.1', 'spec 4.2, rule 4', 'spec 4.2, rule 6', 'spec 2', 'spec 6', 'spec 1', 'spec 3'],
    title:
      'the query string returns a reply once, byte for byte; afterwards neither it nor XML has it, and REST still does',
    alone: 'replies',
    parts: 1,
    run: async (gateway) => {
      const [from, earliest] = [gateway.ownNumber(), minuteFromNow(-1)]
      const { sentId, reply } = await converse(gateway, { from, text: 'Yes & no; 100% = ü\n€ \u0001.' })
      const { receiveTime } = reply
      expectEqual(receiveTime >= earliest && receiveTime <= minuteFromNow(1), true, receiveTime)
      for (const method of ['HEAD', 'OPTIONS'])
        expectEqual((await gateway.query('httpgetreplies.asp', `apikey=${gateway.main.key}`, { method })).status, 405)
      expectEqual(await takeAsp(gateway, 'httpgetreplies.asp', from), [
        `CLI=${from};DateReceived=${receiveTime};Message=Yes %26 no%3B 100%25 %3D ü%0A€ %01.;SentMessageID=${sentId}&`,
      ])
      expectEqual(await takeAsp(gateway, 'httpgetreplies.asp', from), [])
      expectEqual(await takeXml(gateway, repliesXml, from), [])
      expectEqual((await incoming(gateway, from)).at(-1), reply)
    },
  },
  {
    of: ['1.20', '4.7', '1.18', 'spec 4.3', 'spec 4.3, rule 6'],
    title:
      'XML returns replies once, oldest first, with spaces for characters that XML cannot carry; afterwards the query string has none',
    alone: 'replies',
    parts: 2,
    run: async (gateway) => {
      const from = gateway.ownNumber()
      const { sentId, reply: one } = await converse(gateway, { from, text: '<one> & "more"\f.' })
      const [second] = await send(gateway, { numbers: [from], scheduledTime: null })
      const two = await writeBack(gateway, { from, text: 'two' })
      const element = (time: string, text: string, id: number) =>
        `<Reply><CLI>${from}</CLI><DateReceived>${time}</DateReceived><Message>${text}</Message><SentMessageID>${id}</SentMessageID></Reply>`
      expectEqual(
        (await takeXml(gateway, repliesXml, from)).map((text) =>
          text.replaceAll('&quot;', '"').replaceAll('&gt;', '>'),
        ),
        [
          element(one.receiveTime, '&lt;one> &amp; "more" .', sentId),
          element(two.receiveTime, 'two', second?.apiMessageId ?? 0),
        ],
      )
      expectEqual(await takeXml(gateway, repliesXml, from), [])
      expectEqual(await takeAsp(gateway, 'httpgetreplies.asp', from), [])
    },
  },
  {
    of: ['1.18', '2.10', '1.20', 'spec 2', 'spec 4.1'],
    title:
      '/sms/incoming has a reply with the id of the most recent message to its sender, fixed on arrival, and consumes nothing',
    parts: 3,
    run: async (gateway) => {
      const from = gateway.ownNumber()
      await send(gateway, { numbers: [from], scheduledTime: null })
      const { sentId, reply } = await converse(gateway, { from, text: 'to the second' })
      expectEqual(reply.outgoingApiMessageId, sentId)
      await send(gateway, { numbers: [from], scheduledTime: null })
      expectEqual((await incoming(gateway, from)).at(-1), reply)
      const total = restBody<{ resultsTotalAvailable: number }>(
        await gateway.rest('/sms/incoming?limit=1'),
      ).resultsTotalAvailable
      const answer = await gateway.rest(`/sms/incoming?limit=1000&offset=${Math.max(0, total - 1000)}`)
      expectRest(
        answer,
        new RegExp(
          `\\{"incomingApiMessageId":${reply.incomingApiMessageId},"mobileNumber":"${from}","receiveTime":"${reply.receiveTime}",` +
            `"messageText":"to the second","outgoingApiMessageId":${sentId}\\}`,
        ),
      )
    },
  },
  {
    of: ['1.21', '1.22', '1.18', 'spec 3', 'spec 4.2, rule 2', '2.12', '1.19', '1.20'],
    title:
      'STOP is free, applies on every interface and to no sibling account; a second one changes nothing; START ends it; all are replies',
    alone: 'sub',
    parts: 2,
    run: async (gateway) => {
      const { sub, main } = gateway
      const from = gateway.ownNumber()
      await fill(gateway, 10)
      optInAgain(gateway, sub, from)
      const { sentId, reply: stop } = await converse(gateway, { from, text: 'Stop', by: sub })
      const before = await balance(gateway, sub)
      const entry = {
        incomingApiMessageId: stop.incomingApiMessageId,
        mobileNumber: from,
        receiveTime: stop.receiveTime,
        messageText: 'Stop',
        outgoingApiMessageId: sentId,
      }
      expectEqual(await optOuts(gateway, sub, from), [entry])
      await expectRefused(gateway, 'optedOut', { by: sub, number: from })
      await schedule(gateway, { by: main, number: from })
      expectEqual(await optOuts(gateway, main, from), [])
      const listed = `CLI=${from};DateReceived=${stop.receiveTime};Message=Stop;SentMessageID=${sentId}&`
      expectEqual(itemsOf((await gateway.asp('listoptouts.asp', {}, sub)).text, from), [listed])

      const again = await writeBack(gateway, { from, text: 'STOP', by: sub })
      expectEqual(again.outgoingApiMessageId, sentId)
      expectEqual(await optOuts(gateway, sub, from), [entry])
      const noStart = await writeBack(gateway, { from, text: 'start now', by: sub })
      expectEqual(await optOuts(gateway, sub, from), [entry])
      const start = await writeBack(gateway, { from, text: ' sTaRt ', by: sub })
      expectEqual(await optOuts(gateway, sub, from), [])
      expectEqual(
        await takeAsp(gateway, 'httpgetreplies.asp', from, sub),
        [stop, again, noStart, start].map(
          ({ receiveTime, messageText }) =>
            `CLI=${from};DateReceived=${receiveTime};Message=${messageText};SentMessageID=${sentId}&`,
        ),
      )
      expectEqual(await balance(gateway, sub), before)
      const list = await gateway.rest('/sms/scheduled?limit=1000', { by: sub })
      expectEqual(list.text.includes(`"mobileNumber":"${from}"`), false)
      await schedule(gateway, { by: sub, number: from })
    },
  },
  {
    of: ['1.21', 'spec 3', '1.22'],
    title: 'the words that opt out in any letter case, near misses that do not, and the two words that opt in again',
    parts: stops.length + noStops.length,
    run: async (gateway) => {
      const texts = [...stops, ...noStops]
      const writers = texts.map((text) => ({ text, from: gateway.ownNumber() }))
      const sent = await send(gateway, { numbers: writers.map(({ from }) => from), scheduledTime: null })
      for (const one of sent) await untilCode(gateway, one.apiMessageId, 0)
      for (const { from } of writers) optInAgain(gateway, gateway.main, from)
      for (let at = 0; at < writers.length; at += 4)
        await Promise.all(writers.slice(at, at + 4).map((writer) => writeBack(gateway, writer)))
      const optedOut = async ({ from }: { from: string }) => (await optOuts(gateway, gateway.main, from)).length
      const counts = await Promise.all(writers.map(optedOut))
      expectEqual(
        texts.filter((_, i) => counts[i] === 1),
        stops,
      )
      const back = writers
        .slice(0, stops.length)
        .map(({ from }, i) => ({ from, text: i % 2 === 0 ? 'START' : 'unstop' }))
      for (let at = 0; at < back.length; at += 4)
        await Promise.all(back.slice(at, at + 4).map((writer) => writeBack(gateway, writer)))
      expectEqual(
        await Promise.all(back.map(optedOut)),
        back.map(() => 0),
      )
    },
  },
  {
    of: ['1.19', '1.18', '2.10', '3.1', 'spec 2', 'spec 4.2, rule 4', 'spec 1', 'spec 4.1', 'spec 4.2'],
    title:
      'a message to a code is a short code message: excludesc skips it, httpgetscmessages returns it once, REST lists it separately',
    alone: 'code',
    run: async (gateway) => {
      const coded = gateway.account('coded')
      const from = gateway.ownNumber()
      const { receiveTime, incomingApiMessageId } = await writeToCode(gateway, { from, text: 'WIN; a & b' })
      const list = await gateway.rest('/shortcode/incoming?limit=1000', { by: coded })
      expectRest(
        list,
        new RegExp(
          `\\{"incomingApiMessageId":${incomingApiMessageId},"shortCode":"${coded.code}","mobileNumber":"${from}",` +
            `"receiveTime":"${receiveTime}","messageText":"WIN; a & b"\\}`,
        ),
      )
      expectEqual(await incoming(gateway, from, coded), [])
      for (const excludesc of ['true', 'TRUE', '1'])
        expectEqual(await takeAsp(gateway, 'httpgetreplies.asp', from, coded, { excludesc }), [])
      expectEqual(await takeAsp(gateway, 'httpgetscmessages.asp', from, coded), [
        `SC=${coded.code};CLI=${from};DateReceived=${receiveTime};Message=WIN%3B a %26 b&`,
      ])
      for (const path of ['httpgetscmessages.asp', 'httpgetreplies.asp'])
        expectEqual(await takeAsp(gateway, path, from, coded), [])
      expectEqual(
        (await gateway.rest('/shortcode/incoming?limit=1000', { by: coded })).text.includes(
          String(incomingApiMessageId),
        ),
        true,
      )
    },
  },
  {
    of: ['1.19', '1.20', '1.18', '4.7', 'spec 4.3'],
    title:
      'each of the four calls that comes first returns a code message, and none of the others returns it afterwards',
    alone: 'code',
    run: async (gateway) => {
      const coded = gateway.account('coded')
      const from = gateway.ownNumber()
      const noneLeft = async () => {
        for (const path of ['httpgetscmessages.asp', 'httpgetreplies.asp'])
          expectEqual(await takeAsp(gateway, path, from, coded), [])
        for (const endpoint of [codeXml, repliesXml]) expectEqual(await takeXml(gateway, endpoint, from, coded), [])
      }
      const one = await writeToCode(gateway, { from, text: 'one' })
      expectEqual(await takeXml(gateway, codeXml, from, coded), [
        `<SCmessage><SC>${coded.code}</SC><CLI>${from}</CLI><DateReceived>${one.receiveTime}</DateReceived><Message>one</Message></SCmessage>`,
      ])
      await noneLeft()
      const two = await writeToCode(gateway, { from, text: 'two' })
      expectEqual(await takeXml(gateway, repliesXml, from, coded), [
        `<Reply><CLI>${from}</CLI><DateReceived>${two.receiveTime}</DateReceived><Message>two</Message><SentMessageID/></Reply>`,
      ])
      await noneLeft()
      const three = await writeToCode(gateway, { from, text: 'three' })
      expectEqual(await takeAsp(gateway, 'httpgetreplies.asp', from, coded, { excludesc: 'no' }), [
        `CLI=${from};DateReceived=${three.receiveTime};Message=three;SentMessageID=&`,
      ])
      await noneLeft()
    },
  },
  {
    of: ['1.18', '1.21', '1.22', '2.12', 'spec 4.2, rule 4'],
    title: 'STOP to a code from a number that nobody wrote to opts out too, and has no id of a message',
    alone: 'code',
    run: async (gateway) => {
      const coded = gateway.account('coded')
      const from = gateway.ownNumber()
      gateway.afterwards(async () => {
        if ((await optOuts(gateway, coded, from)).length > 0) await writeToCode(gateway, { from, text: 'START' })
      })
      const { receiveTime, incomingApiMessageId } = await writeToCode(gateway, { from, text: 'STOP' })
      const ids = { incomingApiMessageId, outgoingApiMessageId: null }
      expectEqual(await optOuts(gateway, coded, from), [
        { ...ids, mobileNumber: from, receiveTime, messageText: 'STOP' },
      ])
      expectEqual(itemsOf((await gateway.asp('listoptouts.asp', {}, coded)).text, from), [
        `CLI=${from};DateReceived=${receiveTime};Message=STOP;SentMessageID=&`,
      ])
      await expectRefused(gateway, 'optedOut', { by: coded, number: from })
      await writeToCode(gateway, { from, text: 'unstop' })
      expectEqual(await optOuts(gateway, coded, from), [])
    },
  },
  {
    of: ['1.2', '1.20'],
    title: 'nobody else sees a reply, in lists or in return-once calls',
    alone: 'replies',
    parts: 1,
    run: async (gateway) => {
      const from = gateway.ownNumber()
      await converse(gateway, { from, text: 'mine' })
      const { stranger } = gateway
      expectEqual(await incoming(gateway, from, stranger), [])
      expectEqual(await takeAsp(gateway, 'httpgetreplies.asp', from, stranger), [])
      expectEqual(await takeXml(gateway, repliesXml, from, stranger), [])
      expectEqual((await takeAsp(gateway, 'httpgetreplies.asp', from)).length, 1)
    },
  },
]

interface CodeMessage {
  readonly incomingApiMessageId: number
  readonly receiveTime: string
}

/** Sends a message from a number to the code, and waits until the list of code messages contains it. */
async function writeToCode(
  gateway: TestedGateway,
  { from, text }: { from: string; text: string },
): Promise<CodeMessage> {
  const coded = gateway.account('coded')
  const all = async () =>
    restBody<{ resultsTotalAvailable: number; shortcodeMessages: CodeMessage[] }>(
      await gateway.rest('/shortcode/incoming?limit=1', { by: coded }),
    ).resultsTotalAvailable
  const before = await all()
  await gateway.bringReply({ from, to: coded.code, text })
  return until(gateway.configuration.deliverySeconds ?? 30, `the message of ${from} to the code`, async () => {
    const answer = await gateway.rest(`/shortcode/incoming?limit=1&offset=${before}`, { by: coded })
    return restBody<{ shortcodeMessages: CodeMessage[] }>(answer).shortcodeMessages[0]
  })
}
