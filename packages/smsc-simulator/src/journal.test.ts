import { encodePdu, noTlvs, type Pdu } from '@gateway/smpp'
import { latestEntries } from './journal.ts'

const enquiry = (sequence: number): Pdu => ({ command: 'enquire_link', status: 0, sequence, tlvs: noTlvs })

test('the latest entries are listed in order with PDUs decoded from their octets, and older ones are dropped', () => {
  const latest = latestEntries(3)
  latest.add({ at: 1, link: 7, systemId: '', event: 'opened' })
  for (const sequence of [1, 2]) {
    const octets = encodePdu(enquiry(sequence))
    const bytes = Buffer.concat([Buffer.from('before'), octets, Buffer.from('behind')])
    const place = { bytes, start: 6, end: 6 + octets.length }
    latest.addPdu({ at: 1 + sequence, link: 7, systemId: 'me', event: 'sent', pdu: enquiry(sequence), ...place })
  }
  const sent = [
    { at: 2, link: 7, systemId: 'me', event: 'sent', pdu: enquiry(1) },
    { at: 3, link: 7, systemId: 'me', event: 'sent', pdu: enquiry(2) },
  ]
  expect(latest.list(10)).toEqual([{ at: 1, link: 7, systemId: '', event: 'opened' }, ...sent])
  latest.add({ at: 4, link: 7, systemId: 'me', event: 'closed' })
  expect(latest.list(10)).toEqual([...sent, { at: 4, link: 7, systemId: 'me', event: 'closed' }])
  expect(latest.list(1)).toEqual([{ at: 4, link: 7, systemId: 'me', event: 'closed' }])
})
