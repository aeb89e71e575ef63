import fc from 'fast-check'
import { casesOf } from '@gateway/core/testing'
import { serveXml } from '../testing/serve-xml.ts'
import { areWellFormed } from '../testing/validate.ts'
import { endpoints, prefix } from './routes.ts'

const documents = (key: string): readonly string[] => [
  `<Svc_Multi_Message><ApiKey>${key}</ApiKey><Scheduled>202610191824</Scheduled><Messages><Message><MessageText>100%25+of%20%E9</MessageText><Numbers><Number>27825550101</Number><Number/></Numbers></Message></Messages></Svc_Multi_Message>`,
  `<Svc_StatusRequest><User>ada</User><Password>x</Password><MessageIDs><MessageID><ID>1</ID><CLI>a</CLI></MessageID></MessageIDs><ApiKey>${key}</ApiKey></Svc_StatusRequest>`,
  `<?xml version="1.0" encoding="utf-8"?><Svc_DeleteScheduled><ApiKey>${key}</ApiKey><MessageIDs><MessageID><ID>1</ID></MessageID></MessageIDs></Svc_DeleteScheduled>`,
  `<Svc_Replies><ApiKey>${key}</ApiKey></Svc_Replies>`,
  `<Svc_SCmessages><ApiKey>${key}</ApiKey></Svc_SCmessages>`,
]

const pieces = [
  ...[
    '<',
    '>',
    '/',
    '&',
    ';',
    '&amp;',
    '&#0;',
    '&#x1F600;',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<?a',
    '?>',
    '<!DOCTYPE a>',
    '"',
    "'",
  ],
  ...[
    '<Message>',
    '</Message>',
    '<Number>',
    '</Number>',
    '<ID>',
    '</ID>',
    '<ID/>',
    '<Numbers>',
    '<__proto__>',
    ' hasOwnProperty="1"',
  ],
  ...[
    '%',
    '%00',
    '%ED%A0%80',
    '+',
    '-1',
    '1e3',
    '99999999999999999999',
    '\0',
    '\ufeff',
    '\ud800',
    'é',
    '\u202e',
    '\r\n',
    '_',
    'constructor',
  ],
]

/** Mutates a document: pieces are cut out, inserted and repeated, and the encoding varies. */
const mutated = (key: string) =>
  fc
    .record({
      document: fc.constantFrom(...documents(key)),
      mutations: fc.array(
        fc.record({
          at: fc.nat(400),
          cut: fc.nat(30),
          put: fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 3 })), {
            maxLength: 4,
          }),
          times: fc.constantFrom(1, 1, 2, 1001),
        }),
        { maxLength: 4 },
      ),
      encoding: fc.constantFrom('utf8', 'utf8', 'utf8', 'utf16le', 'latin1'),
    })
    .map(({ document, mutations, encoding }) => {
      let text = document
      for (const { at, cut, put, times } of mutations) {
        text =
          text.slice(0, at) +
          (put.join('') + text.slice(at, at + cut)).repeat(times).slice(0, 100_000) +
          text.slice(at + cut)
      }
      return Buffer.from(text, encoding as BufferEncoding)
    })

const contentType = fc.constantFrom(
  'text/xml',
  'text/xml; charset=utf-16le',
  'text/xml; charset=x',
  'application/json',
  '',
)

test('mutated documents on any path are answered in time, with a document and without an internal error', async () => {
  const { post, key } = await serveXml({ options: { credits: 1_000_000 } })
  const answers: string[] = []
  await fc.assert(
    fc.asyncProperty(mutated(key), fc.constantFrom(...endpoints.keys()), contentType, async (body, path, type) => {
      const started = performance.now()
      const { status, text, headers } = await post(prefix + path, body, type)
      expect([200, 429]).toContain(status)
      expect(headers['content-type']).toBe('text/xml; charset=utf-8')
      expect(performance.now() - started).toBeLessThan(5000)
      answers.push(text)
    }),
    { numRuns: casesOf(200) },
  )
  expect(await areWellFormed(answers)).toEqual(answers.map(() => true))
}, 120_000)

const megabytes = 4 * 1024 * 1024
const filledUp = (start: string, piece: string, end: string): string =>
  start + piece.repeat(Math.floor((megabytes - start.length - end.length) / Buffer.byteLength(piece))) + end
const send = '<Svc_Multi_Message>'
const close = '</Svc_Multi_Message>'

test.each<[string, string]>([
  ['a comment', filledUp(`${send}<!--`, 'x', `-->${close}`)],
  ['an attribute', filledUp(`<Svc_Multi_Message a="`, 'x', `"/>`)],
  ['attributes', filledUp(send, `<a ${Array.from({ length: 2000 }, (_, at) => `a${at}="" `).join('')}/>`, close)],
  ['elements', filledUp(send, '<a/>', close)],
  ['open elements', filledUp(send, '<a>', '')],
  ['a text', filledUp(send, 'x', close)],
  ['references', filledUp(send, `${'&amp;'.repeat(10_000)}<a/>`, close)],
  ['ampersands', filledUp(send, '&', close)],
  ['an entity', filledUp(`${send}&`, 'a', `;${close}`)],
  ['brackets in CDATA', filledUp(`${send}<![CDATA[`, ']', `]]>${close}`)],
  ['CDATA sections', filledUp(send, '<![CDATA[]]>', close)],
  ['comments', filledUp(send, '<!--b-->a', close)],
  ['an instruction', filledUp(`${send}<?a `, '?', `?>${close}`)],
  ['a declaration', filledUp('<?xml version="1.0"', ' ', '?><a/>')],
  ['carriage returns', filledUp(send, `${'\r'.repeat(60_000)}<a/>`, close)],
  ['a name', filledUp('<', 'a', '/>')],
  ['white space behind the root', filledUp(`${send}${close}`, ' ', '')],
  ['DOCTYPE', filledUp('<!DOCTYPE a [', '<!ENTITY a "b">', ']><a/>')],
  [
    'escapes that are no UTF-8',
    filledUp(`${send}<MessageText>`, `${'%E9x'.repeat(15_000)}</MessageText><MessageText>`, `</MessageText>${close}`),
  ],
])('4 MB of %s are refused, and a small concurrent request is answered', async (_, document) => {
  const { post, key } = await serveXml()
  const large = post('/api/xmlsendsmsmulti.asp', document).then((answered) => answered) // `then` sends the request
  const small = await post('/api/xmlgetreplies.asp', `<Svc_Replies><ApiKey>${key}</ApiKey></Svc_Replies>`)
  expect(small.status).toBe(200)
  const { status, text } = await large
  // Documents without credentials share only a part of the reading time. A document that waits too long is refused.
  expect(text).toMatch(
    status === 503
      ? /<Error>Service unavailable<\/Error>/
      : /<Error>(Not Valid XML Document|Authentication failed)<\/Error>/,
  )
  expect([200, 503]).toContain(status)
})
