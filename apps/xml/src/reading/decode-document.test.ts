import fc from 'fast-check'
import { documentDecoder } from './decode-document.ts'

/**
 * Decodes a document that is passed as one chunk. Returns undefined if the encoding is not supported or the bytes are
 * invalid in it.
 */
const decodeDocument = (body: Buffer, contentType?: string): string | undefined =>
  documentDecoder(body, contentType)?.(body, true)

const declared = (encoding: string, text: string): Buffer =>
  Buffer.from(`<?xml version="1.0" encoding="${encoding}"?>${text}`, 'latin1')
const bodyOf = (document: string | undefined): string | undefined => document?.replace(/^<\?xml.*?\?>/, '')
const utf16be = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

test.each<[string, Buffer, string | undefined, string]>([
  ['UTF-8, if nothing else is declared', Buffer.from('é€'), undefined, 'é€'],
  ['UTF-8 with its mark, which is dropped', Buffer.from('\ufeffé€'), undefined, 'é€'],
  ['UTF-16, low byte first', Buffer.from('\ufeffé€', 'utf16le'), undefined, 'é€'],
  ['UTF-16, high byte first', utf16be('é€😀'), undefined, 'é€😀'],
  ['windows-1252, declared', declared('windows-1252', '\x80\xe9\x95\x81'), undefined, '€é•\x81'],
  ['ISO-8859-1 is read as windows-1252', declared('ISO-8859-1', '\x80\xe9'), undefined, '€é'],
  ['US-ASCII, too', declared('us-ascii', '\x93\xe9'), undefined, '“é'],
  ['ISO-8859-15', declared('iso-8859-15', '\xa4'), undefined, '€'],
  ['by the content type', latin1('\xe9'), 'text/xml; charset=ISO-8859-1', 'é'],
  ['by the content type, quoted', latin1('\xe9'), 'text/xml;charset="windows-1252"; x=y', 'é'],
  ['by the content type, low byte first', Buffer.from('é', 'utf16le'), 'text/xml; charset=utf-16le', 'é'],
  [
    'a mark wins over the declaration',
    Buffer.from('\ufeff<?xml version="1.0" encoding="windows-1252"?>é'),
    undefined,
    'é',
  ],
  ['a mark wins over the content type', Buffer.from('\ufeffé'), 'text/xml; charset=windows-1252', 'é'],
  ['the declaration wins over the content type', declared('windows-1252', '\xe9'), 'text/xml; charset=utf-8', 'é'],
  ['a declaration in single quotes', latin1("<?xml version='1.0' encoding='windows-1252'?>\xe9"), undefined, 'é'],
  ['no encoding in the declaration', latin1('<?xml version="1.0"?>a'), 'text/xml; charset=windows-1252', 'a'],
  [
    'not what a comment says',
    Buffer.from('<!-- encoding="windows-1252" -->é'),
    undefined,
    '<!-- encoding="windows-1252" -->é',
  ],
  ['nothing', Buffer.alloc(0), undefined, ''],
])('%s', (_, bytes, contentType, text) => {
  expect(bodyOf(decodeDocument(bytes, contentType))).toBe(text)
})

test.each<[string, Buffer, string | undefined]>([
  ['bytes that are not UTF-8', latin1('\xe9'), undefined],
  ['bytes that are not UTF-8 after its byte order mark', latin1('\xef\xbb\xbf\xe9'), undefined],
  ['a surrogate in UTF-8', Buffer.from([0xed, 0xa0, 0x80]), undefined],
  ['an overlong sequence', Buffer.from([0xc0, 0xaf]), undefined],
  ['half a code unit of UTF-16', Buffer.from([0xff, 0xfe, 0x41]), undefined],
  ['half a pair of UTF-16', Buffer.from([0xff, 0xfe, 0x00, 0xd8]), undefined],
  ['an unknown encoding', declared('klingon', 'a'), undefined],
  ['an unsupported encoding', declared('utf-7', 'a'), undefined],
  ['an unsupported encoding that the decoder knows', declared('iso-2022-jp', 'a'), undefined],
  ['an unknown one in the content type', latin1('a'), 'text/xml; charset=klingon'],
])('%s cannot be decoded', (_, bytes, contentType) => {
  expect(decodeDocument(bytes, contentType)).toBeUndefined()
})

test.each(['utf-16', 'UTF-16', 'utf-16LE', 'UTF-16be'])(
  'a declaration of %s that can be read byte by byte is that of UTF-8',
  (encoding) => {
    const document = Buffer.from(`<?xml version="1.0" encoding="${encoding}"?><a>é€</a>`)
    expect(bodyOf(decodeDocument(document))).toBe('<a>é€</a>')
    expect(bodyOf(decodeDocument(document, 'text/xml; charset=utf-16'))).toBe('<a>é€</a>')
    expect(decodeDocument(declared(encoding, '\xe9'))).toBeUndefined()
  },
)

test('a document in UTF-16 that declares UTF-16 is decoded', () => {
  const text = '<?xml version="1.0" encoding="utf-16"?><a>é€</a>'
  expect(decodeDocument(Buffer.from(`\ufeff${text}`, 'utf16le'))).toBe(text)
  expect(decodeDocument(utf16be(text))).toBe(text)
  expect(decodeDocument(Buffer.from(text, 'utf16le'), 'text/xml; charset=utf-16')).toBe(text)
})

test('any text in UTF-8 and UTF-16 is decoded unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      fc.pre(!text.startsWith('\ufeff') && !text.includes('\ufeff'))
      expect(decodeDocument(Buffer.from(text))).toBe(text)
      expect(decodeDocument(Buffer.from(`\ufeff${text}`, 'utf16le'))).toBe(text)
      expect(decodeDocument(utf16be(text))).toBe(text)
    }),
  )
})

test('any bytes are decoded or refused, without an exception', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.string(), (bytes, contentType) => {
      expect(['string', 'undefined']).toContain(typeof decodeDocument(Buffer.from(bytes), contentType))
    }),
  )
})
