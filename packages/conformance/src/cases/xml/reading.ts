import type { Case } from '../../case.ts'
import { expectEqual, expectXml, expectXmlError, header, xmlText } from '../../expectations.ts'
import type { Keyed, TestedGateway } from '../../tested-gateway.ts'
import { farAhead } from '../../times.ts'
import {
  askXml,
  codeXml,
  idsOf,
  message,
  repliesXml,
  sendMessages,
  sendXml,
  statusXml,
  words,
  xmlEndpoints,
} from './documents.ts'

const invalid = 'Not Valid XML Document'
const unknownId = '9007199254740991'

/**
 * Returns a status request for an unknown id. It is accepted if the answer is NOTFOUND, whatever the form of the
 * document.
 */
const ask = (key: string, inside = ''): string =>
  `<Svc_StatusRequest><ApiKey>${key}</ApiKey>${inside}<MessageIDs><MessageID><ID>${unknownId}</ID></MessageID></MessageIDs></Svc_StatusRequest>`

const passes = async (gateway: TestedGateway, body: string | Buffer, contentType?: string): Promise<void> => {
  expectXml(
    await gateway.document(statusXml.path, body, contentType),
    /<Status>NOTFOUND<\/Status>.*<StatusCode>-2<\/StatusCode>/,
  )
}
const refused = async (
  gateway: TestedGateway,
  body: string | Buffer,
  title = '',
  contentType?: string,
): Promise<void> => {
  const answer = await gateway.document(statusXml.path, body, contentType)
  expectEqual(answer.text.includes(`<Error>${invalid}</Error>`), true, `${title}: ${answer.text.slice(0, 300)}`)
  expectXmlError(answer, statusXml.response, invalid)
}

export const xmlReadingCases: readonly Case[] = [
  ...xmlEndpoints.map((endpoint): Case => ({
    of: ['4.10', '4.2', '4.1', '4.7', 'spec 4.3', 'spec 7.3', 'spec 3'],
    title: `${endpoint.path}: its root in any prefix, path in any letter case; otherwise the Error under its own root with 200; 405 for other methods`,
    run: async (gateway) => {
      const { path, request, response, content } = endpoint
      const wrong = `<Svc${request}><ApiKey>wrong</ApiKey>${content}</Svc${request}>`
      for (const name of [path, path.toUpperCase(), path.replace('xml', 'XmL')])
        expectXmlError(await gateway.document(name, wrong), response, 'Authentication failed')
      for (const prefix of ['Acme', 'x', 'SVC', 'a.b-c']) {
        const root = `${prefix}${request}`
        expectXmlError(
          await gateway.document(path, `<${root}><ApiKey>wrong</ApiKey>${content}</${root}>`),
          response,
          'Authentication failed',
        )
      }
      expectXmlError(
        await gateway.document(path, `<Svc${request}>${content}</Svc${request}>`),
        response,
        'Authentication failed',
      )
      for (const body of ['', 'no xml', '<', `<Svc${request}>`, `<Svc_Other/>`, `<Svc${request.toUpperCase()}/>`])
        expectXmlError(await gateway.document(path, body), response, invalid)
      for (const other of xmlEndpoints)
        if (other !== endpoint)
          expectXmlError(
            await gateway.document(
              path,
              `<Svc${other.request}><ApiKey>${gateway.main.key}</ApiKey></Svc${other.request}>`,
            ),
            response,
            invalid,
          )
      for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS'])
        expectXml(
          await gateway.raw('xml', { method, target: `/api/${path}` }),
          /^<\w+><Error>[^<]+<\/Error><\/\w+>$/,
          405,
        )
      expectEqual((await gateway.raw('xml', { method: 'HEAD', target: `/api/${path}` })).status, 405)
    },
  })),
  {
    of: ['4.5', 'spec 5', 'spec 4.3', '4.2'],
    title:
      'the key, or the pair if the key is blank; both trimmed; a repeated credential is wrong; elements in any order, unknown ones ignored',
    run: async (gateway) => {
      const { key, user, password } = gateway.main
      const ids = `<MessageIDs><MessageID><ID>${unknownId}</ID></MessageID></MessageIDs>`
      const of = (inside: string) =>
        gateway.document(statusXml.path, `<Svc_StatusRequest>${inside}</Svc_StatusRequest>`)
      const pair = `<User>${user}</User><Password>${password}</Password>`
      for (const inside of [
        `<ApiKey>${key}</ApiKey>${ids}`,
        `${ids}<ApiKey>\n ${key} \t</ApiKey>`,
        `<ApiKey/>${pair}${ids}`,
        `<ApiKey> </ApiKey>${ids}<Password> ${password} </Password><User>${user}</User>`,
        `<ApiKey>${key}</ApiKey><User>x</User><Password>y</Password>${ids}`,
        `<Any x="1"><Thing/></Any><ApiKey a="b">${key}</ApiKey>${ids}<!-- a comment -->`,
      ])
        expectXml(await of(inside), /<Status>NOTFOUND<\/Status>/)
      for (const inside of [
        `<ApiKey>wrong</ApiKey>${pair}${ids}`,
        `<ApiKey>${key}</ApiKey><ApiKey>${key}</ApiKey>${ids}`,
        `<User>${user}</User>${ids}`,
      ])
        expectXmlError(await of(inside), statusXml.response, 'Authentication failed')
    },
  },
  {
    of: ['4.1', '4.7'],
    title:
      'any content type and none; in segments, in chunks, over HTTP/1.0; answers have the declaration and their length',
    run: async (gateway) => {
      const { key } = gateway.main
      for (const type of [
        'text/xml',
        'application/xml',
        'application/x-www-form-urlencoded',
        'application/json',
        'text/xml; charset=utf-8',
        '',
      ])
        await passes(gateway, ask(key), type)
      const post = { method: 'POST', target: `/api/${statusXml.path}`, body: ask(key) }
      for (const as of ['chunked', { segments: 20 }] as const)
        expectXml(await gateway.raw('xml', { ...post, as }), /NOTFOUND/)
      expectXml(await gateway.raw('xml', { ...post, version: '1.0' }), /NOTFOUND/)
      const answer = await gateway.raw('xml', post)
      expectEqual(header(answer, 'content-length'), String(answer.body.length))
    },
  },
  {
    of: ['4.1'],
    title:
      'the encoding is that of the BOM, the declaration, the charset parameter, or UTF-8; a wrong one makes the document invalid',
    run: async (gateway) => {
      const { key } = gateway.main
      const cli = (text: string) => ask(key).replace('</MessageID></', `<CLI>${text}</CLI></MessageID></`)
      const echoed = async (body: Buffer, type?: string) =>
        /<CLI>([^<]*)<\/CLI>/.exec(xmlText(await gateway.document(statusXml.path, body, type)))?.[1]
      const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>${cli('é€')}`
      const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')
      const w1252 = (text: string) => Buffer.from(text.replace('€', '\x80'), 'latin1')
      expectEqual(await echoed(Buffer.from(cli('é€'))), 'é€')
      expectEqual(await echoed(Buffer.from(`\ufeff${cli('é€')}`)), 'é€')
      expectEqual(await echoed(Buffer.from(declared('utf-8'))), 'é€')
      expectEqual(await echoed(w1252(declared('windows-1252')), 'text/xml; charset=utf-8'), 'é€')
      expectEqual(await echoed(w1252(cli('é€')), 'text/xml; charset=windows-1252'), 'é€')
      expectEqual(await echoed(utf16(declared('utf-16'))), 'é€')
      expectEqual(await echoed(utf16(cli('é€')), 'text/xml; charset=windows-1252'), 'é€')
      expectEqual(await echoed(utf16(declared('utf-16')).swap16()), 'é€')
      expectEqual(await echoed(Buffer.from(declared('utf-16'))), 'é€')
      await refused(gateway, w1252(cli('é')), 'windows-1252 that is not declared')
      await refused(gateway, Buffer.from(declared('klingon')), 'an unknown encoding')
    },
  },
  {
    of: ['4.1', '4.10'],
    title: 'a body over 4 MB is 413 with an Error, one of nearly 4 MB is read',
    run: async (gateway) => {
      const { key } = gateway.main
      const padded = (bytes: number) => {
        const comments = `<!--${'x'.repeat(60_000)}-->`
        const body = ask(key, comments.repeat(Math.floor((bytes - 400) / comments.length)))
        return body + ' '.repeat(bytes - body.length)
      }
      const megabytes = 4 * 1024 * 1024
      await passes(gateway, padded(megabytes))
      expectXml(
        await gateway.document(statusXml.path, padded(megabytes + 1)),
        /^<\w+><Error>[^<]+<\/Error><\/\w+>$/,
        413,
      )
    },
  },
  {
    of: ['4.3'],
    title:
      'DOCTYPE, entities, two roots, text outside, a repeated attribute and forbidden characters are not valid, before credentials are checked',
    run: async (gateway) => {
      const { key } = gateway.main
      for (const credential of [key, 'wrong']) {
        const document = ask(credential)
        for (const [title, body] of [
          ['DOCTYPE', `<!DOCTYPE x>${document}`],
          ['an entity', `<!DOCTYPE x [<!ENTITY e "v">]>${ask(credential, '<X>&e;</X>')}`],
          ['an undefined entity', ask(credential, '<X>&nbsp;</X>')],
          ['two roots', document + document],
          ['text before', `x${document}`],
          ['text after', `${document}x`],
          ['an attribute twice', ask(credential, '<X a="1" a="2"/>')],
          ['U+0001', ask(credential, '<X>\u0001</X>')],
          ['a reference to U+0000', ask(credential, '<X>&#0;</X>')],
          ['a reference to U+0008', ask(credential, '<X>&#x8;</X>')],
          ['U+FFFE', ask(credential, '<X>\ufffe</X>')],
          ['a lone surrogate', ask(credential, '<X>&#xD800;</X>')],
          ['a tag that is not closed', ask(credential, '<X>')],
          ['tags that cross', ask(credential, '<X><Y></X></Y>')],
          ['a bare ampersand', ask(credential, '<X>a & b</X>')],
          ['an attribute without quotes', ask(credential, '<X a=1/>')],
        ] as const)
          await refused(gateway, body, title)
      }
      await passes(gateway, ask(key, '<X a="1" b="2">&amp;&lt;&gt;&quot;&apos;&#65;&#x42;<![CDATA[<&]]></X>'))
    },
  },
  {
    of: ['4.3'],
    title: 'depth 16, 64 kB of text in a node and 250 000 elements are accepted; more is not',
    run: async (gateway) => {
      const { key } = gateway.main
      const deep = (levels: number) => ask(key, '<X>'.repeat(levels - 1) + '</X>'.repeat(levels - 1))
      await passes(gateway, deep(16))
      await refused(gateway, deep(17), 'depth 17')
      const text = (characters: number) => ask(key, `<X>${'x'.repeat(characters)}</X>`)
      await passes(gateway, text(65_536))
      await refused(gateway, text(65_537), '64 kB and one of text')
      await passes(gateway, ask(key, '<X/>'.repeat(249_000)))
      await refused(gateway, ask(key, '<X/>'.repeat(250_000)), 'more than 250 000 elements')
    },
  },
  {
    of: ['4.10', '1.10', 'spec 7.3'],
    title: 'which error wins: not valid, credentials, shape, too many, Invalid Date',
    run: async (gateway) => {
      const [ok, wrong] = [gateway.main, { id: 0, key: 'wrong' }]
      const tooMany = message(
        'a',
        Array.from({ length: 1001 }, () => '1'),
      )
      const dated = (content: string) => `<Scheduled>soon</Scheduled><Messages>${content}</Messages>`
      const error = async (content: string, by: Keyed = ok) =>
        /<Error>([^<]*)</.exec(xmlText(await askXml(gateway, sendXml, content, by)))?.[1]
      expectEqual(await error(`${dated(tooMany)}<X>&e;</X>`, wrong), invalid)
      expectEqual(await error(dated(''), wrong), 'Authentication failed')
      expectEqual(await error(dated('')), invalid)
      expectEqual(await error(dated(tooMany)), 'Too Many Numbers')
      expectEqual(await error(dated(message('a', ['1']))), 'Invalid Date')
      for (const date of ['202602301200', '2026', '20261010120000', 'x'])
        expectEqual(
          await error(`<Scheduled>${date}</Scheduled><Messages>${message('a', ['1'])}</Messages>`),
          'Invalid Date',
          date,
        )
    },
  },
  {
    of: ['4.10', '4.2', 'spec 7.3'],
    title: 'no Message, no MessageID, or an ID that is blank or not a number: Not Valid XML Document',
    run: async (gateway) => {
      for (const content of ['', '<Messages/>'])
        expectXmlError(await askXml(gateway, sendXml, content), sendXml.response, invalid)
      for (const endpoint of xmlEndpoints.slice(1, 3)) {
        for (const content of ['', '<MessageIDs/>', '<MessageIDs><MessageID/></MessageIDs>'])
          expectXmlError(await askXml(gateway, endpoint, content), endpoint.response, invalid)
        for (const id of ['', ' ', 'x', '1x', '-1', '1.0', '1e3'])
          expectXmlError(
            await askXml(
              gateway,
              endpoint,
              `<MessageIDs><MessageID><ID>1</ID></MessageID><MessageID><ID>${id}</ID></MessageID></MessageIDs>`,
            ),
            endpoint.response,
            invalid,
          )
      }
    },
  },
  {
    of: ['4.2', 'spec 4.3, rule 3'],
    title: 'white space is trimmed around every text except MessageText; Numbers may come before it',
    run: async (gateway) => {
      const { number } = gateway
      const answer = await sendMessages(
        gateway,
        `<Message><Numbers>\n<Number> ${number}\n</Number></Numbers>\n<MessageText>a</MessageText></Message>`,
      )
      const [id] = idsOf(answer)
      expectXml(
        answer,
        `<${sendXml.response}><SendResult><MessageNumber>1</MessageNumber><NumberID><Number>${number}</Number><ID>${id}</ID></NumberID></SendResult></${sendXml.response}>`,
      )
      const blank = await askXml(
        gateway,
        sendXml,
        `<Scheduled>${farAhead()}</Scheduled><Messages>${message('', [number])}</Messages>`,
      )
      expectEqual(words(blank), ['FAIL:NO MESSAGE'])
    },
  },
  {
    of: ['spec 4.3, rule 7', '3.8'],
    title: 'there is no XML for balance, transfer, opt-outs or checking credentials',
    run: async (gateway) => {
      for (const path of ['xmlcredits.asp', 'xmlcreditstransfer.asp', 'xmllistoptouts.asp', 'xmlauth.asp'])
        expectEqual(
          (await gateway.document(path, `<Svc_Credits><ApiKey>${gateway.main.key}</ApiKey></Svc_Credits>`)).status,
          404,
        )
    },
  },
  {
    of: ['4.10', 'spec 4.3', 'spec 4.3, rule 6'],
    title: 'nothing to return is an empty root',
    run: async (gateway) => {
      for (const endpoint of [repliesXml, codeXml]) {
        await askXml(gateway, endpoint, '', gateway.otherSub)
        expectXml(await askXml(gateway, endpoint, '', gateway.otherSub), `<${endpoint.response}/>`)
      }
    },
  },
]
