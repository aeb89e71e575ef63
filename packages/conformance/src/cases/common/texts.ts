import type { Case } from '../../case.ts'
import { expectAsp, expectEqual, restBody } from '../../expectations.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { farAhead } from '../../times.ts'
import { balance, fill, price, send, tenths, type Recipient } from '../../verbs.ts'
import { idsOf as idsOfXml, message, sendMessages, words } from '../xml/documents.ts'
import { numbersOf, sendQuery } from '../query-string/sending.ts'

const tooLong = 'too long'
type Counted = readonly [title: string, text: string, parts: number | typeof tooLong]

const gsm: readonly Counted[] = [
  ['160 septets', 'x'.repeat(160), 1],
  ['161 septets', 'x'.repeat(161), 2],
  ['306 septets', 'x'.repeat(306), 2],
  ['307 septets', 'x'.repeat(307), 3],
  ['918 septets', 'x'.repeat(918), 6],
  ['919 septets', 'x'.repeat(919), tooLong],
  ['80 of the extension table', '€'.repeat(80), 1],
  ['81 of the extension table', '€'.repeat(81), 2],
  ['each character of the extension table', '^{}\\[~]|€'.repeat(8) + 'x'.repeat(16), 1],
  ['one septet more than that', '^{}\\[~]|€'.repeat(8) + 'x'.repeat(17), 2],
  ['form feeds', `xx${'\f'.repeat(79)}`, 1],
  ['form feeds and one septet more', `xxx${'\f'.repeat(79)}`, 2],
  ['an escape pair at the end of a part', `${'x'.repeat(152)}€${'x'.repeat(151)}`, 2],
  ['an escape pair that would straddle two parts', `${'x'.repeat(152)}€${'x'.repeat(152)}`, 3],
  ['918 septets in 7 parts', `${'x'.repeat(152)}€`.repeat(5) + 'x'.repeat(148), 7],
  ['459 of the extension table', '€'.repeat(459), 7],
  ['460 of the extension table', '€'.repeat(460), tooLong],
  ['letters of the default alphabet', '@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉÄÖÑÜ§¿äöñüà¡'.padEnd(160, '\n'), 1],
]

const ucs2: readonly Counted[] = [
  ['70 code units', 'Ж'.repeat(70), 1],
  ['71 code units', 'Ж'.repeat(71), 2],
  ['134 code units', 'Ж'.repeat(134), 2],
  ['135 code units', 'Ж'.repeat(135), 3],
  ['402 code units', 'Ж'.repeat(402), 6],
  ['403 code units', 'Ж'.repeat(403), tooLong],
  ['35 surrogate pairs', '😀'.repeat(35), 1],
  ['36 surrogate pairs', '😀'.repeat(36), 2],
  ['67 surrogate pairs, none of them divided', '😀'.repeat(67), 3],
  ['198 surrogate pairs', '😀'.repeat(198), 6],
  ['199 surrogate pairs', '😀'.repeat(199), tooLong],
  ['one character outside GSM 7-bit', `${'x'.repeat(70)}ł`, 2],
]

const lookAlikes: readonly Counted[] = [
  ['curly quotes', '“‘’”'.repeat(40), 1],
  ['dashes', '–—'.repeat(80), 1],
  ['non-breaking spaces', `x${'\u00a0'.repeat(159)}`, 1],
  ['thin spaces', `x${'\u2009'.repeat(159)}`, 1],
  ['ellipses', '…'.repeat(53), 1],
  ['an ellipsis in Cyrillic, which stays one character', `${'Ж'.repeat(69)}…`, 1],
  ['curly quotes in Cyrillic', `“${'Ж'.repeat(69)}”`, 2],
]

/** Sends a text far ahead by REST and derives the number of its parts from its charge. */
async function partsOf(gateway: TestedGateway, text: string): Promise<number | typeof tooLong> {
  const [sent] = await send(gateway, { by: gateway.sub, numbers: [gateway.number], message: text })
  if (sent?.acceptError === 'TOOLONG') return tooLong
  expectEqual(sent?.acceptError, '')
  return tenths(sent?.creditCost ?? 0) / price(gateway)
}

const counting = (of: Case['of'], title: string, table: readonly Counted[]): Case => ({
  of,
  title,
  alone: 'sub',
  run: async (gateway) => {
    const total = table.reduce((sum, [, , parts]) => sum + (parts === tooLong ? 0 : parts), 0)
    const before = await fill(gateway, Math.ceil((total * price(gateway)) / 10))
    for (const [title, text, parts] of table) expectEqual(await partsOf(gateway, text), parts, title)
    expectEqual(await balance(gateway, gateway.sub), before - total * price(gateway))
  },
})

export const textCases: readonly Case[] = [
  counting(
    ['1.5', '1.6', '1.4', 'spec 8', 'spec 2'],
    'GSM 7-bit: length and parts, at each edge, by what is charged',
    gsm,
  ),
  counting(['1.7', '1.4'], 'UCS-2: 70 code units in one part, else 67, at most 6, no surrogate pair divided', ucs2),
  counting(['1.7'], 'look-alikes are replaced if the whole text then is GSM 7-bit, and only then', lookAlikes),
  {
    of: ['1.4', '1.5', '1.6', '1.7', 'spec 4.2, rule 1', 'spec 4.3, rule 1'],
    title: 'the query string and XML count and charge as REST does',
    alone: 'sub',
    run: async (gateway) => {
      const { sub, number } = gateway
      await fill(gateway, Math.ceil((60 * price(gateway)) / 10))
      for (const [title, text, parts] of [gsm[1], gsm[4], gsm[5], gsm[14], ucs2[0], ucs2[1], ucs2[5], ucs2[8]].flatMap(
        (one) => (one ? [one] : []),
      )) {
        const charged = async (ids: (encoded: string) => Promise<number[]>) => {
          const before = await balance(gateway, sub)
          const [id] = await ids(encodeURIComponent(text))
          return id === undefined ? tooLong : (before - (await balance(gateway, sub))) / price(gateway)
        }
        const byQuery = async (encoded: string) =>
          numbersOf(await sendQuery(gateway, `message=${encoded}&numbers=${number}`, sub))
        const byXml = async (encoded: string) => idsOfXml(await sendMessages(gateway, message(encoded, [number]), sub))
        expectEqual(await charged(byQuery), parts, `query string: ${title}`)
        expectEqual(await charged(byXml), parts, `XML: ${title}`)
      }
    },
  },
  {
    of: ['1.7', '1.10', '2.4'],
    title: 'a text with U+0000 counts as missing on the older interfaces, like one of spaces',
    run: async (gateway) => {
      const query = `numbers=${gateway.number}&message=`
      for (const text of ['a%00b', '%20', '+%0A']) {
        expectAsp(await sendQuery(gateway, query + text), 'Error="No message given"')
        expectEqual(words(await sendMessages(gateway, message(text, [gateway.number]))), ['FAIL:NO MESSAGE'])
      }
    },
  },
  {
    of: ['1.4', '1.3', '1.11'],
    title: 'the price is that of the longest prefix, times the parts, in tenths',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const priced = gateway.configured(gateway.configuration.numbers.priced, 'numbers.priced')
      const before = await fill(gateway, Math.ceil(priced.price * 3 + gateway.configuration.numbers.price) + 1)
      const body = {
        messages: [
          { message: 'x'.repeat(161), recipients: [{ mobileNumber: priced.number }], scheduledTime: farAhead() },
          {
            message: 'x',
            recipients: [{ mobileNumber: priced.number }, { mobileNumber: gateway.number }],
            scheduledTime: farAhead(),
          },
        ],
      }
      const { messages } = restBody<{ messages: { recipients: Recipient[] }[] }>(
        await gateway.rest('/sms/outgoing/sendmulti', { by: sub, body }),
      )
      const all = messages.flatMap(({ recipients }) => recipients)
      gateway.leave(
        sub,
        all.map((one) => one.apiMessageId),
      )
      const each = tenths(priced.price)
      expectEqual(
        all.map((one) => tenths(one.creditCost)),
        [2 * each, each, price(gateway)],
      )
      expectEqual(await balance(gateway, sub), before - 3 * each - price(gateway))
    },
  },
]
