import { integerTlv, noTlvs, TLV_TAG } from '@gateway/smpp'
import { readUserData } from './user-data.ts'

const udh = (hex: string) => ({ esmClass: 0x40, shortMessage: Buffer.from(hex, 'hex'), tlvs: noTlvs })

test.each([
  ['an 8-bit reference', '0500031102014142', { reference: 0x11, is16Bit: false, of: 2, number: 1 }],
  ['a 16-bit reference', '06080412340302414243', { reference: 0x1234, is16Bit: true, of: 3, number: 2 }],
  ['the only part', '05000311010141', undefined],
])('a header with %s', (_title, hex, part) => {
  expect(readUserData(udh(hex))).toMatchObject({ part })
})

test.each([
  ['no octets', '', 'header-malformed'],
  ['a length beyond the text', '0600', 'header-malformed'],
  ['an element beyond the header', '03000911', 'header-malformed'],
  ['a reference of the wrong size', '0400021102', 'header-malformed'],
  ['part 0', '0500031102004142', 'header-malformed'],
  ['a part above the total', '0500031102034142', 'header-malformed'],
  ['ports', '06050400010001', 'header-not-offered'],
  ['a national language table', '0324010141', 'header-not-offered'],
])('a header with %s is refused', (_title, hex, problem) => {
  expect(readUserData(udh(hex))).toBe(problem)
})

const sar = (reference: number, of: number, number: number) => [
  integerTlv(TLV_TAG.sar_msg_ref_num, 2, reference),
  integerTlv(TLV_TAG.sar_total_segments, 1, of),
  integerTlv(TLV_TAG.sar_segment_seqnum, 1, number),
]

test('sar parameters name a part, and incomplete ones are refused', () => {
  const pdu = { esmClass: 0, shortMessage: Buffer.from('a') }
  expect(readUserData({ ...pdu, tlvs: sar(7, 2, 2) })).toMatchObject({ part: { reference: 7, of: 2, number: 2 } })
  expect(readUserData({ ...pdu, tlvs: sar(7, 2, 3) })).toBe('sar-malformed')
  expect(readUserData({ ...pdu, tlvs: sar(7, 2, 1).slice(1) })).toBe('sar-malformed')
  expect(readUserData({ ...pdu, tlvs: sar(7, 1, 1) })).toMatchObject({ part: undefined })
})

test('message_payload is the text if short_message is empty, and both together are refused', () => {
  const tlvs = [{ tag: TLV_TAG.message_payload, value: Buffer.from('long') }]
  expect(readUserData({ esmClass: 0, shortMessage: Buffer.alloc(0), tlvs })).toMatchObject({
    octets: Buffer.from('long'),
  })
  expect(readUserData({ esmClass: 0, tlvs })).toMatchObject({ octets: Buffer.from('long') })
  expect(readUserData({ esmClass: 0, shortMessage: Buffer.from('a'), tlvs })).toBe('two-texts')
})
