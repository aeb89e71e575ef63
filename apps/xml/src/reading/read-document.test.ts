import fc from 'fast-check'
import { areWellFormed } from '../../testing/validate.ts'
import { documentReader, elements, type Root } from './read-document.ts'

interface Draft {
  opened: number
  readonly texts: string[]
}

const root: Root<Draft> = {
  ending: '_Test_Root',
  inside: elements<Draft>({
    List: {
      open: (draft) => draft.opened++,
      inside: elements<Draft>({ Item: { text: ({ texts }, text) => texts.push(text) } }),
    },
  }),
}

function readInPieces(document: string, length: number) {
  const draft: Draft = { opened: 0, texts: [] }
  const reader = documentReader(root, draft)
  for (let from = 0; from < document.length; from += length)
    if (!reader.write(document.slice(from, from + length))) return 'not valid'
  return reader.end() ? draft : 'not valid'
}

/**
 * Reads a document whole and cut into pieces of two lengths, which are short unless the document is long. All results
 * must be equal.
 */
function read(document: string) {
  const whole = readInPieces(document, Infinity)
  const lengths = document.length < 2000 ? [1, 7] : [4096, 16_383]
  for (const length of lengths) expect(readInPieces(document, length)).toEqual(whole)
  return whole
}
const inRoot = (inside: string): string => `<Svc_Test_Root>${inside}</Svc_Test_Root>`
const items = (...texts: readonly string[]): string =>
  inRoot(`<List>${texts.map((text) => `<Item>${text}</Item>`).join('')}</List>`)

describe('is read', () => {
  test.each<[string, string, readonly string[]]>([
    ['texts in their order', items('a', '', ' b '), ['a', '', ' b ']],
    ['an element that closes itself', inRoot('<List><Item/></List>'), ['']],
    ['references of XML', items('&amp;&lt;&gt;&quot;&apos;&#65;&#x42;&#x1F600;&#x1f600;&#0065;'), [`&<>"'AB😀😀A`]],
    ['a text in pieces', items('a<!--x-->b<?y z?>c<![CDATA[<d>&amp;]]>e<!---->f'), ['abc<d>&amp;ef']],
    [
      'CDATA with brackets',
      items('<![CDATA[a]]b]]]]>', '<![CDATA[]]>', ']] >', 'a]]&gt;'),
      ['a]]b]]', '', ']] >', 'a]]>'],
    ],
    [
      'a bare & and < in CDATA and comments',
      items('<![CDATA[a & b < c &nbsp;]]><!-- &x; <y ]]> -->'),
      ['a & b < c &nbsp;'],
    ],
    ['text directly in an element only', items('a<b>no</b>c'), ['ac']],
    [
      'nothing of unknown elements',
      inRoot('<X><List><Item>no</Item></List></X><List><Y><Item>no</Item></Y></List>'),
      [],
    ],
    ['nothing in another letter case', inRoot('<list><Item>no</Item></list><List><ITEM>no</ITEM></List>'), []],
    [
      'names that objects have',
      inRoot('<constructor/><__proto__><Item>no</Item></__proto__><toString>x</toString>'),
      [],
    ],
    ['line ends', items('a\r\nb\rc\nd&#13;e\r\n'), ['a\nb\nc\nd\re\n']],
    [
      'attributes',
      `<Svc_Test_Root xmlns="urn:a" xmlns:x='b "c"' x:y = "&lt;&#10;"><List><Item a="1">i</Item></List></Svc_Test_Root>`,
      ['i'],
    ],
    ['white space in tags', '<Svc_Test_Root\n><List ><Item\t>a</Item\n></List ></Svc_Test_Root >', ['a']],
    [
      'what stands around the root',
      `<?xml version='1.0' encoding="utf-8" standalone='yes' ?>\n<!--a--><?b?>\n${items('c')}\n<!--d--><?e f?>\n`,
      ['c'],
    ],
    [
      'characters of every plane',
      items('\t\u0085\u2028\ud7ff\ue000\ufffd\u{10000}\u{10ffff}\u{1fffe}'),
      ['\t\u0085\u2028\ud7ff\ue000\ufffd\u{10000}\u{10ffff}\u{1fffe}'],
    ],
    ['depth 16', inRoot(`${'<a>'.repeat(15)}${'</a>'.repeat(15)}`), []],
    ['64 kB in a text', items('a'.repeat(65_536)), ['a'.repeat(65_536)]],
    ['64 kB of UTF-8 in a text', items('é'.repeat(32_768)), ['é'.repeat(32_768)]],
    [
      '64 kB in a comment and in CDATA',
      items(`<!--${'a'.repeat(65_536)}--><![CDATA[${'b'.repeat(65_536)}]]>`),
      ['b'.repeat(65_536)],
    ],
    ['250 000 elements', inRoot('<a/>'.repeat(249_999)), []],
    ['two long texts', items('a'.repeat(60_000), 'b'.repeat(60_000)), ['a'.repeat(60_000), 'b'.repeat(60_000)]],
  ])('%s', (_, document, texts) => {
    const draft = read(document)
    expect(draft === 'not valid' ? draft : draft.texts).toEqual(texts)
  })

  test.each(['Svc_Test_Root', 'A_Test_Root', 'sms-gateway.2_Test_Root', 'É_Test_Root', 'x:y_Test_Root'])(
    'the root %s',
    (name) => {
      expect(read(`<${name}/>`)).toEqual({ opened: 0, texts: [] })
    },
  )

  test('a document with the same result wherever its pieces end', () => {
    const piece = '<Item a="é">&amp;😀\r\n<![CDATA[<x>]]><!-- c --></Item>'
    for (let shift = 0; shift < piece.length; shift++) {
      const document = inRoot(`<List>${' '.repeat(shift)}${piece.repeat(400)}</List>`)
      expect(read(document)).toEqual({ opened: 1, texts: Array<string>(400).fill('&😀\n<x>') })
    }
  })
})

const malformed: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['white space', ' \n'],
  ['text', 'hello'],
  ['JSON', '{"a":"<a/>"}'],
  ['a declaration only', '<?xml version="1.0"?>'],
  ['an open root', '<Svc_Test_Root><List>'],
  ['an open tag', '<Svc_Test_Root'],
  ['a closed element that was not open', inRoot('</List>')],
  ['elements that overlap', inRoot('<List><Item></List></Item>')],
  ['another letter case at the close', inRoot('<List></list>')],
  ['two roots', '<Svc_Test_Root/><Svc_Test_Root/>'],
  ['two different roots', `${items('a')}<b/>`],
  ['text before the root', `a${items('b')}`],
  ['text behind the root', `${items('b')}a`],
  ['a reference behind the root', `${items('b')}&#32;`],
  ['CDATA before the root', `<![CDATA[ ]]>${items('b')}`],
  ['CDATA behind the root', `${items('b')}<![CDATA[]]>`],
  ['a second byte order mark', `\ufeff${items('b')}`],
  ['a byte order mark before the root', `<!--a-->\ufeff${items('b')}`],
  ['white space before the declaration', ` <?xml version="1.0"?>${items('b')}`],
  ['two declarations', `<?xml version="1.0"?><?xml version="1.0"?>${items('b')}`],
  ['a declaration in another letter case', `<?XML version="1.0"?>${items('b')}`],
  ['a declaration without a version', `<?xml encoding="utf-8"?>${items('b')}`],
  ['a declaration with more', `<?xml version="1.0" a="b"?>${items('b')}`],
  ['a declaration inside', items('<?xml version="1.0"?>')],
  ['DOCTYPE', `<!DOCTYPE Svc_Test_Root>${items('b')}`],
  ['DOCTYPE with entities', `<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z SYSTEM "file:///etc/passwd">]>${items('&x;&z;')}`],
  ['DOCTYPE in another letter case', `<!doctype a>${items('b')}`],
  ['DOCTYPE inside', items('<!DOCTYPE a>')],
  ['DOCTYPE that is open', '<!DOCTYPE a ['],
  ['a declaration of an element', `<!ELEMENT a ANY>${items('b')}`],
  ['an unknown entity', items('&nbsp;')],
  ['an entity in another letter case', items('&AMP;')],
  ['an entity without its end', items('a & b')],
  ['an entity that is open', items('&amp')],
  ['an empty entity', items('&;')],
  ['an entity that objects have', items('&constructor;')],
  ['a reference with a capital X', items('&#X41;')],
  ['an empty reference', items('&#;&#x;')],
  ['a reference to U+0000', items('&#0;')],
  ['a reference to a control character', items('&#12;')],
  ['a reference to a surrogate', items('&#xD800;')],
  ['a reference beyond Unicode', items('&#x110000;')],
  ['an endless reference', items(`&#${'9'.repeat(5000)};`)],
  ['an unknown entity in an attribute', inRoot('<a b="&nbsp;"/>')],
  ['an entity in another letter case in an attribute', inRoot('<a b="&LT;"/>')],
  ['U+0000', items('a\0b')],
  ['a form feed', items('\f')],
  ['an escape character in an attribute', inRoot('<a b="\x1b"/>')],
  ['U+FFFE', items('\ufffe')],
  ['U+FFFF in a comment', items('<!--\uffff-->')],
  [']]> in a text', items('a]]>b')],
  ['CDATA in another letter case', items('<![cdata[a]]>')],
  ['CDATA that is open', items('<![CDATA[a')],
  ['a comment with --', items('<!-- a -- b -->')],
  ['a comment that is open', `${items('a')}<!-- `],
  ['an attribute twice', inRoot('<a b="1" b="2"/>')],
  ['an attribute twice with the same value', inRoot("<a b='1' c='' b='1'/>")],
  ['an attribute without quotes', inRoot('<a b=1/>')],
  ['an attribute without a value', inRoot('<a b/>')],
  ['attributes without white space', inRoot('<a b="1"c="2"/>')],
  ['< in an attribute', inRoot('<a b="<"/>')],
  ['white space before a name', inRoot('< a/>')],
  ['white space before the name at a close', inRoot('<a></ a>')],
  ['white space before the slash at a close', inRoot('<a>< /a>')],
  ['white space before a comment', inRoot('< !-- a -->')],
  ['white space before an instruction', inRoot('< ?a b?>')],
  ['a name that begins with a digit', inRoot('<1a/>')],
  ['a slash before white space', inRoot('<a/ >')],
  ['an instruction without a name', inRoot('<? a?>')],
  ['an instruction that is open', inRoot('<?a')],
]

describe('is not valid', () => {
  test.each(malformed)('%s', (_, document) => {
    expect(read(document)).toBe('not valid')
  })

  test.each([
    ['depth 17', inRoot(`${'<a>'.repeat(16)}${'</a>'.repeat(16)}`)],
    ['a depth of 100 000', inRoot(`${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}`)],
    ['250 001 elements', inRoot('<a/>'.repeat(250_000))],
    ['64 kB and a byte in a text', items('a'.repeat(65_537))],
    ['64 kB and a byte of UTF-8', items(`${'é'.repeat(32_768)}a`)],
    ['64 kB and a byte in an unknown element', inRoot(`<a>${'a'.repeat(65_537)}</a>`)],
    ['64 kB and a byte in a text of several pieces', items(`${'a'.repeat(40_000)}<!---->${'a'.repeat(25_537)}`)],
    ['64 kB and a byte in CDATA', items(`<![CDATA[${'a'.repeat(65_537)}]]>`)],
    ['64 kB and a byte in a comment', items(`<!--${'a'.repeat(65_537)}-->`)],
    ['64 kB and a byte in an instruction', items(`<?a ${'a'.repeat(65_537)}?>`)],
    ['a tag of more than 64 kB', inRoot(`<a b="${'a'.repeat(65_537)}"/>`)],
    ['64 kB and a byte of references', items('&amp;'.repeat(65_537))],
    ['an attribute that would call itself', inRoot('<a hasOwnProperty="1" b="2"/>')],
    ['an attribute that a record cannot hold', inRoot('<a __proto__="1"/>')],
  ])('%s', (_, document) => {
    expect(read(document)).toBe('not valid')
  })

  test.each([
    'Svc_Test',
    '_Test_Root',
    'Test_Root',
    'Svc_Other_Root',
    'Svc_A_Test_Root',
    'svc_test_root',
    'Svc_Test_Root2',
  ])('the root %s', (name) => {
    expect(read(`<${name}/>`)).toBe('not valid')
  })
})

describe('compared with another XML parser', () => {
  test('each invalid document above is invalid to it too, except for DOCTYPE, which only the gateway forbids', async () => {
    const documents = malformed.filter(
      ([title]) => !/^DOCTYPE( with entities)?$/.test(title) && title !== 'a second byte order mark',
    )
    const found = await areWellFormed(documents.map(([, document]) => document))
    expect(documents.filter((_, at) => found[at]).map(([title]) => title)).toEqual([])
  })

  test('a mutated document with our root is read if, and only if, the other parser finds it well-formed', async () => {
    const pieces = [
      ...[
        '<List>',
        '</List>',
        '<Item>',
        '</Item>',
        '<Item/>',
        '<a b="1">',
        '</a>',
        '<',
        '>',
        '&',
        ';',
        '&amp;',
        '&#65;',
        ']]>',
      ],
      ...[
        '<![CDATA[',
        '<!--',
        '-->',
        '<?',
        '?>',
        '"',
        "'",
        '=',
        '/',
        ' ',
        '\n',
        'b',
        'x',
        '!',
        '-',
        '[',
        'é',
        '\u{1f600}',
      ],
    ]
    const whole = [
      ...items('a', '&lt;', '<![CDATA[b]]>', '<!--c-->').matchAll(/<!--.*?-->|<!\[CDATA\[.*?\]\]>|<[^>]*>|[^<]/g),
    ].map(([token]) => token)
    const mutation = fc.record({
      at: fc.nat(whole.length),
      cut: fc.nat(2),
      put: fc.array(fc.constantFrom(...pieces), { maxLength: 3 }),
    })
    const documents = fc.sample(fc.array(mutation, { minLength: 1, maxLength: 2 }), 500).map((mutations) => {
      const tokens = [...whole]
      for (const { at, cut, put } of mutations) tokens.splice(at, cut, ...put)
      return tokens.join('')
    })
    const found = await areWellFormed(documents)
    const ours = documents.map((document) => read(document) !== 'not valid')
    expect(documents.filter((_, at) => ours[at] && !found[at])).toEqual([])
    const readOnlyThere = documents.filter(
      (document, at) => found[at] && !ours[at] && document.startsWith('<Svc_Test_Root>'),
    )
    expect(readOnlyThere).toEqual([])
    expect(ours.filter(Boolean).length).toBeGreaterThan(10)
  })
})
