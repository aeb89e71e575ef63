import type { InboundMessageId } from '@gateway/core/inbox'
import { instant } from '@gateway/core/time'
import fc from 'fast-check'
import { decodeText } from '../text/alphabets.ts'
import { readUserData } from '../text/user-data.ts'
import { replyPdus } from './reply.ts'

const reply = (text: string, to: string | undefined = '12025550100') => ({
  ...{ kind: 'reply' as const, inbound: 7 as InboundMessageId, from: '27825550101', to, text, at: instant(0) },
})
const gsm = { alphabet0: 'gsm', alphabet1: 'ascii' } as const

test.each([
  ['gsm', 'a€', 0, '611b65'],
  ['gsm', 'Привет', 8, '041f04400438043204350442'],
  ['latin1', '£', 0, 'a3'],
  ['latin1', '€', 8, '20ac'],
  ['ascii', '@', 0, '40'],
  ['ascii', '£', 8, '00a3'],
] as const)('with alphabet0 %s, %j has data_coding %i', (alphabet0, text, dataCoding, octets) => {
  const [pdu] = replyPdus(reply(text), { alphabet0, alphabet1: 'ascii' }, 1)
  expect(pdu).toMatchObject({ dataCoding, shortMessage: Buffer.from(octets, 'hex'), esmClass: 0 })
})

test('a reply comes from the number of the person and goes to the address that it was sent to', () => {
  expect(replyPdus(reply('a'), gsm, 1)[0]).toMatchObject({
    ...{ sourceAddr: '27825550101', sourceAddrTon: 1, sourceAddrNpi: 1 },
    ...{ destinationAddr: '12025550100', destAddrTon: 1, destAddrNpi: 1 },
  })
  expect(replyPdus(reply('a', '40404'), gsm, 1)[0]).toMatchObject({ destAddrTon: 0, destAddrNpi: 1 })
  expect(replyPdus({ ...reply('a'), to: undefined }, gsm, 1)[0]).toMatchObject({ destinationAddr: '', destAddrTon: 0 })
})

test('the parts of a long reply have at most 140 octets on the air and join to its text', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a€😀é]{0,400}$/u), (text) => {
      const pdus = replyPdus(reply(text), gsm, 9)
      const parts = pdus.map((pdu) => readUserData(pdu))
      const octets = parts.map((part) => (typeof part === 'string' ? Buffer.alloc(0) : part.octets))
      const isUcs2 = pdus[0]?.dataCoding === 8
      for (const part of octets) expect(part.length).toBeLessThanOrEqual(isUcs2 ? 140 : 160)
      // Each part is decoded by itself, so that no escape sequence or surrogate pair is split.
      const texts = octets.map((part) => decodeText(part, isUcs2 ? 'ucs2' : 'gsm'))
      expect(texts.map(String).join('')).toBe(text)
    }),
  )
})
