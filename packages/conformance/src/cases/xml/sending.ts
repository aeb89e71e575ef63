import type { Case } from '../../case.ts'
import { expectEqual, expectXml, expectXmlError, xmlText } from '../../expectations.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { instantOf, minuteFromNow } from '../../times.ts'
import { balance, fill, price, schedule, send, untilCode } from '../../verbs.ts'
import { askXml, deleteXml, idList, idsOf, message, sendMessages, sendXml, statusXml, words } from './documents.ts'

const unknown = '9007199254740991'
const inRoot = (root: string, content: string): string => `<${root}>${content}</${root}>`

const expectNow = (gateway: TestedGateway, text: string): void => {
  expectEqual(/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d$/.test(text), true, `no time ccyy/mm/dd HH:mm:ss: ${text}`)
  const skewMs = ((gateway.configuration.clockSeconds ?? 5) + 1) * 1000
  expectEqual(Math.abs(Date.now() - instantOf(text)) <= skewMs, true, `${text} is not now at GMT+2`)
}

export const xmlSendingCases: readonly Case[] = [
  {
    of: ['spec 4.3', '4.8', '1.9', '1.10', 'spec 7.3', '4.7', 'spec 4.3, rule 3'],
    title: 'a send is answered message by message, number by number, in order, with ids and words',
    run: async (gateway) => {
      const { number } = gateway
      const answer = await sendMessages(
        gateway,
        [
          message('a', [number, '123', '']),
          message('', [number, '']),
          '<Message><MessageText>b</MessageText><Numbers/></Message>',
          '<Message><MessageText>b</MessageText></Message>',
          message('b', [number, number, '2&amp;7&lt;']),
          message(' ', [number]),
          message('x'.repeat(919), [number, '123', '']),
        ].join(''),
      )
      const [first, second, third] = idsOf(answer)
      const results = [
        [
          [number, first],
          ['123', 'FAIL:BADDEST'],
          ['', 'FAIL:NO NUMBER'],
        ],
        [
          [number, 'FAIL:NO MESSAGE'],
          ['', 'FAIL:NO MESSAGE'],
        ],
        [['', 'FAIL:NO NUMBER']],
        [['', 'FAIL:NO NUMBER']],
        [
          [number, second],
          [number, third],
          ['2&amp;7&lt;', 'FAIL:BADDEST'],
        ],
        [[number, 'FAIL:NO MESSAGE']],
        [
          [number, 'FAIL:TOOLONG'],
          ['123', 'FAIL:TOOLONG'],
          ['', 'FAIL:TOOLONG'],
        ],
      ]
      const numberId = ([to, id]: (string | number | undefined)[]) =>
        `<NumberID>${to === '' ? '<Number/>' : `<Number>${to}</Number>`}<ID>${id}</ID></NumberID>`
      const expected = results.map(
        (of, i) => `<SendResult><MessageNumber>${i + 1}</MessageNumber>${of.map(numberId).join('')}</SendResult>`,
      )
      expectXml(answer, inRoot(sendXml.response, expected.join('')))
    },
  },
  {
    of: ['4.6', 'spec 4.3, rule 2', 'spec 8'],
    title:
      '1000 Number elements over all messages are accepted, 1001 are Too Many Numbers; 1001 Message elements are not valid; nothing is sent',
    alone: 'sub',
    run: async (gateway) => {
      const { sub, number } = gateway
      const before = await fill(gateway, Math.ceil((1000 * price(gateway)) / 10) + 5)
      const to = (count: number) => Array.from({ length: count }, () => number)
      const two = (count: number) => message('a', to(500)) + message('b', to(count))
      expectXmlError(await sendMessages(gateway, two(501), sub), sendXml.response, 'Too Many Numbers')
      const messages = (count: number) => Array.from({ length: count }, () => message('a', ['1'])).join('')
      expectXmlError(await sendMessages(gateway, messages(1001), sub), sendXml.response, 'Not Valid XML Document')
      expectEqual(words(await sendMessages(gateway, messages(1000), sub)).length, 1000)
      expectEqual(await balance(gateway, sub), before)
      expectEqual(new Set(idsOf(await sendMessages(gateway, two(500), sub))).size, 1000)
      expectEqual(await balance(gateway, sub), before - 1000 * price(gateway))
    },
  },
  {
    of: ['4.4', 'spec 4.3, rule 1', '1.6'],
    title: 'MessageText is unescaped, then percent-decoded once with + as a space, which its charge shows',
    alone: 'sub',
    run: async (gateway) => {
      const { sub, number } = gateway
      await fill(gateway, Math.ceil((20 * price(gateway)) / 10))
      const parts = async (text: string) => {
        const before = await balance(gateway, sub)
        expectEqual(idsOf(await sendMessages(gateway, message(text, [number]), sub)).length, 1, text.slice(0, 40))
        return (before - (await balance(gateway, sub))) / price(gateway)
      }
      for (const [text, count] of [
        ['x'.repeat(160), 1],
        ['%41'.repeat(160), 1],
        ['%2541'.repeat(53) + 'x', 1],
        ['%2541'.repeat(54), 2],
        ['%%zz%4'.repeat(26) + '%%zz', 1],
        ['+'.repeat(80) + 'x'.repeat(80), 1],
        ['%0A'.repeat(80) + 'x'.repeat(80), 1],
        ['&amp;'.repeat(160), 1],
        ['%E9'.repeat(160), 1],
        ['%C3%A9'.repeat(160), 1],
        ['%80'.repeat(80), 1],
        ['%80'.repeat(81), 2],
      ] as const)
        expectEqual(await parts(text), count, `${text.slice(0, 20)}… is ${count} parts`)
    },
  },
  {
    of: ['spec 4.3, rule 4', 'spec 3', '1.15'],
    title: 'a blank Scheduled and a past one send at once',
    parts: 2,
    run: async (gateway) => {
      for (const scheduled of [' ', minuteFromNow(-3)]) {
        const answer = await askXml(
          gateway,
          sendXml,
          `<Scheduled>${scheduled}</Scheduled><Messages>${message('a', [gateway.number])}</Messages>`,
        )
        const [id = 0] = idsOf(answer)
        await untilCode(gateway, id, 0)
        expectXml(await askXml(gateway, deleteXml, idList([id])), /<Status>SENT<\/Status>/)
      }
    },
  },
  {
    of: ['spec 4.3', '4.9', '1.16', '1.2', 'spec 3', 'spec 2'],
    title:
      'status: one StatusID for each id in order, CLI echoed or empty; the time of NOTFOUND is the present, of DELIVERED that of the delivery',
    parts: 1,
    run: async (gateway) => {
      const begun = Date.now()
      const [sent] = await send(gateway, { numbers: [gateway.number], scheduledTime: null })
      const id = sent?.apiMessageId ?? 0
      const waiting = await schedule(gateway)
      const foreign = await schedule(gateway, { by: gateway.stranger })
      await untilCode(gateway, id, 0)
      const content = `<MessageIDs><MessageID><ID> ${id} </ID><CLI>a&amp;b</CLI></MessageID><MessageID><CLI/><ID>${waiting}</ID></MessageID><MessageID><ID>${unknown}</ID></MessageID><MessageID><ID>${foreign}</ID></MessageID></MessageIDs>`
      const answer = await askXml(gateway, statusXml, content)
      const times = Array.from(xmlText(answer).matchAll(/<StatusDateTime>([^<]*)</g), ([, time = '']) => time)
      for (const time of times.slice(1)) expectNow(gateway, time)
      const at = instantOf(times[0] ?? '')
      expectEqual(at >= begun - 6000 && at <= Date.now() + 6000, true, `delivered at ${times[0]}`)
      const element = (of: number | string, cli: string, word: string, i: number, code: number) =>
        `<StatusID><MessageID>${of}</MessageID>${cli}<Status>${word}</Status><StatusDateTime>${times[i]}</StatusDateTime><StatusCode>${code}</StatusCode></StatusID>`
      expectXml(
        answer,
        inRoot(
          statusXml.response,
          element(id, '<CLI>a&amp;b</CLI>', 'DELIVERED', 0, 0) +
            element(waiting, '<CLI/>', 'NOTFOUND', 1, -1) +
            element(unknown, '<CLI/>', 'NOTFOUND', 2, -2) +
            element(foreign, '<CLI/>', 'NOTFOUND', 3, -2),
        ),
      )
    },
  },
  {
    of: ['4.6', 'spec 4.3, rule 5', 'spec 8', 'spec 3', '4.9'],
    title: 'status: ids beyond 1000 are SKIPPED 108, with the present time',
    run: async (gateway) => {
      const id = await schedule(gateway)
      const ids = Array.from({ length: 1002 }, (_, i) => (i === 999 || i === 1000 ? id : unknown))
      const text = xmlText(await askXml(gateway, statusXml, idList(ids)))
      const found = Array.from(
        text.matchAll(/<Status>(\w+)<\/Status><StatusDateTime>([^<]*)<\/StatusDateTime><StatusCode>(-?\d+)</g),
        ([, word, time = '', code]) => ({ is: `${word} ${code}`, time }),
      )
      expectEqual(found.length, 1002)
      expectEqual(
        [999, 1000, 1001].map((at) => found[at]?.is),
        ['NOTFOUND -1', 'SKIPPED 108', 'SKIPPED 108'],
      )
      expectNow(gateway, found[1000]?.time ?? '')
    },
  },
  {
    of: ['4.6', '1.15', 'spec 4.3', '1.4', 'spec 3'],
    title:
      'delete: 1000 ids are accepted, DELETED once with its refund, CLI echoed; 1001 are Too Many Message IDs and nothing is deleted',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const before = await fill(gateway, 5)
      const id = await schedule(gateway, { by: sub })
      const ids = (count: number) => [id, id, ...Array.from({ length: count - 2 }, () => unknown)]
      expectXmlError(
        await askXml(gateway, deleteXml, idList(ids(1001)), sub),
        deleteXml.response,
        'Too Many Message IDs',
      )
      expectEqual(await balance(gateway, sub), before - price(gateway))
      const answer = await askXml(gateway, deleteXml, idList(ids(1000)).replace('</ID>', '</ID><CLI>x</CLI>'), sub)
      const element = (of: number | string, cli: string, word: string) =>
        `<DeleteStatus><MessageID>${of}</MessageID>${cli}<Status>${word}</Status></DeleteStatus>`
      const rest = element(unknown, '<CLI/>', 'NOTFOUND').repeat(998)
      expectXml(
        answer,
        inRoot(deleteXml.response, element(id, '<CLI>x</CLI>', 'DELETED') + element(id, '<CLI/>', 'NOTFOUND') + rest),
      )
      expectEqual(await balance(gateway, sub), before)
      expectXml(await askXml(gateway, deleteXml, idList([id]), sub), /<Status>NOTFOUND<\/Status>/)
      expectEqual(await balance(gateway, sub), before)
    },
  },
]
