import fc from 'fast-check'
import { create } from 'xmlbuilder2'
import { complaints } from '../testing/validate.ts'
import { carriable, container, document, escapeText, leaf } from './rendered.ts'

const inRoot = document('XMLGateway_Replies')
const reply = container('Reply')
const [cli, received, message, sent] = [leaf('CLI'), leaf('DateReceived'), leaf('Message'), leaf('SentMessageID')]

interface Row {
  readonly cli: string
  readonly message: string
  readonly sent: string
}

const filled = (rows: readonly Row[]): string =>
  inRoot(
    rows.map((row) => reply(cli(row.cli) + received('202610181824') + message(row.message) + sent(row.sent))).join(''),
  )

/**
 * Builds the same document node by node. The builder has two gaps, which this function closes. It does not escape
 * carriage returns, which XML parsers would turn into line feeds. It also treats `&name;` in a text as a reference, so
 * this function escapes ampersands first.
 */
function built(rows: readonly Row[]): string {
  const root = create({ version: '1.0', encoding: 'utf-8' }).ele('XMLGateway_Replies')
  for (const row of rows) {
    const element = root.ele('Reply')
    const children = { CLI: row.cli, DateReceived: '202610181824', Message: row.message, SentMessageID: row.sent }
    for (const [name, text] of Object.entries(children)) {
      const child = element.ele(name)
      if (text !== '') child.txt(carriable(text).replaceAll('&', '&amp;'))
    }
  }
  return root.end().replaceAll('\r', '&#xD;')
}

const hostile = [
  ...[
    '',
    ' ',
    '{}',
    '{0}',
    '$1 $& $`',
    '%s',
    '&amp;',
    '&',
    '<',
    '>',
    '"',
    "'",
    ']]>',
    '<![CDATA[',
    '<!--',
    '-->',
    '</Reply>',
  ],
  ...[
    '\r\n',
    '\t',
    '\f',
    '\0',
    '\x1b',
    '\ud800',
    '\udc00',
    '\ufffe',
    '\uffff',
    '\u{1f600}',
    '\u0085',
    '\u2028',
    '\ufeff',
    'é€',
  ],
  ...['&#x41;', '<Error>', '<?xml?>', 'constructor', '__proto__'],
]
const text = fc.oneof(
  fc
    .array(fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: 'binary', maxLength: 5 })), { maxLength: 6 })
    .map((pieces) => pieces.join('')),
  fc.array(fc.nat(0xffff), { maxLength: 8 }).map((units) => String.fromCharCode(...units)),
)
const rows = fc.array(fc.record({ cli: text, message: text, sent: text }), { maxLength: 5 })

test('a filled document equals the one that xmlbuilder2 builds', () => {
  fc.assert(fc.property(rows, (drawn) => expect(filled(drawn)).toBe(built(drawn))))
})

test.each(hostile.map((each) => [JSON.stringify(each), each]))(
  'a filled document equals the one that xmlbuilder2 builds for %s',
  (_, each) => {
    const drawn = [{ cli: each, message: `a${each}b`, sent: each + each }]
    expect(filled(drawn)).toBe(built(drawn))
  },
)

test('an empty result is rendered as an empty root, an empty text as an empty element', () => {
  expect(filled([])).toBe('<?xml version="1.0" encoding="utf-8"?><XMLGateway_Replies/>')
  expect(sent('')).toBe('<SentMessageID/>')
})

test('each character that XML cannot carry becomes a space, and all others arrive', () => {
  expect(carriable('a\0\f\x1b\ud800b\ufffe\udc00\ud83d\ude00\t\n\r')).toBe('a    b  😀\t\n\r')
})

test('an escaped text has no markup, and reading it back gives the original text', () => {
  const references: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&#xD;': '\r' }
  fc.assert(
    fc.property(text, (drawn) => {
      const escaped = escapeText(drawn)
      expect(escaped).not.toMatch(/[<>\r]/)
      expect(escaped.replace(/&[^;]*;/g, (reference) => references[reference] ?? reference)).toBe(carriable(drawn))
    }),
  )
})

test('a document with hostile texts is still valid', async () => {
  const drawn = fc.sample(rows, 100).map((each) => each.map((row) => ({ ...row, sent: '12' })))
  expect(await complaints('replies-response', drawn.map(filled))).toEqual([])
})

test('the schema refuses another document', async () => {
  expect(await complaints('replies-response', ['<XMLGateway_Replies><Reply/></XMLGateway_Replies>'])).not.toEqual([])
})
