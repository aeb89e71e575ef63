import type { JournalLine } from '../support/smsc.ts'
import { reportedFates } from './checks.ts'
import { recordOf } from './smpp-carrier.ts'

const line = (sequence: number, more: Partial<JournalLine>): JournalLine => ({
  ...{ at: '2026-01-01T00:00:00.000Z', link: 1, event: 'received', sequence },
  ...more,
})
const submit = (sequence: number, destinationAddr: string, shortMessage = '6869', esmClass = 0): JournalLine =>
  line(sequence, { command: 'submit_sm', destinationAddr, shortMessage, esmClass })
const answer = (sequence: number, status?: string): JournalLine =>
  line(sequence, { event: 'sent', command: 'submit_sm_resp', ...(status === undefined ? {} : { status }) })

const numbers = ['27820000001', '27820000002', '27820000003', '27820000094', '27820000005']
const ids = new Map(numbers.map((number, i) => [number, i + 1]))

test('the fate is known of a one-part message that was accepted or not answered, but not of a message accepted in part', () => {
  const [accepted = '', unanswered = '', inPart = '', silent = '', refused = ''] = numbers
  const record = recordOf(
    [
      line(0, { event: 'opened' }),
      ...[submit(1, accepted), answer(1)],
      submit(2, unanswered),
      // The first of two parts. The link broke before the second part was submitted.
      submit(3, inPart, '0500034b02016869', 0x40),
      ...[submit(4, silent), answer(4)],
      ...[submit(5, refused), answer(5, 'ESME_RTHROTTLED')],
    ],
    ids,
  )
  expect(record[2]).toMatchObject({ part: 1, parts: 2, answer: 'unknown' })
  expect([...reportedFates(record)]).toEqual([1, 2])
})
