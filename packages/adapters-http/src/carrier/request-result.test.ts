import { aMessageId } from '@gateway/core/testing'
import { accountAt } from '../account.ts'
import { shippedProvider, type ProviderName } from '../providers.ts'
import type { Exchange } from '../transport/exchange.ts'
import { messageOfOwnId, ownIds } from './own-ids.ts'
import { requestResult } from './request-result.ts'

const lost: Exchange = { outcome: 'unknown', reason: 'no complete answer came' }
const hour = 3_600_000

function resultOf(name: ProviderName, exchange: Exchange, age: number) {
  const account = accountAt(shippedProvider(name), {})
  return requestResult(exchange, { account, ownId: '7-abc234', text: 'hello', age, now: 0, note: () => undefined })
}

// BulkSMS recognizes a repetition for 12 hours, another gateway for 48, Twilio never.
test.each<readonly [ProviderName, number, boolean]>([
  ['bulksms', 0, true],
  ['bulksms', 6 * hour - 1, true],
  ['bulksms', 6 * hour, false],
  ['gateway', 24 * hour - 1, true],
  ['gateway', 24 * hour, false],
  ['twilio', 0, false],
])('an unknown outcome at %s after %i ms may be repeated: %s', (name, age, isRepeatable) => {
  expect(resultOf(name, lost, age)).toEqual({ is: 'unknown', hasAnswered: false, isRepeatable })
})

test('at SMSGate a message that is there already is accepted under our id', () => {
  const answer = { status: 409, headers: {}, body: '{"message":"duplicate id"}' }
  expect(resultOf('smsgate', { outcome: 'answered', answer }, 1000)).toEqual({ is: 'accepted', reference: '7-abc234' })
})

test('our id names its message, and differs between two starts', () => {
  const [one, other] = [ownIds().of(aMessageId(77)), ownIds().of(aMessageId(77))]
  expect([messageOfOwnId(one), messageOfOwnId(other), one === other]).toEqual([77, 77, false])
  for (const text of ['77', '077-abc234', '0-abc234', '77-abc23', '77-abc2341', '99999999999999999-abc234'])
    expect(messageOfOwnId(text)).toBeUndefined()
})
