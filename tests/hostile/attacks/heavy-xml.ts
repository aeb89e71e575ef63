import { post, scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

const document = `<Svc_Multi_Message><ApiKey>gw_wrong</ApiKey>${'<a/>'.repeat(240_000)}</Svc_Multi_Message>`

export const heavyXml: Attack = {
  title: 'heavy XML without credentials',
  by: 'xml',
  run: (target) =>
    flood(target, {
      connections: scaled(target, 100),
      text: () => post('/api/xmlsendsmsmulti.asp', '', document),
      answersToText: 1,
    }),
}
