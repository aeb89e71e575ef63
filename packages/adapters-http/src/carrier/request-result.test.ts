import { ownIdTag } from '@gateway/core/dispatch'
import { aMessageId } from '@gateway/core/testing'
import { instant } from '@gateway/core/time'
import { accountAt } from '../account.ts'
import { shippedProvider, type ProviderName } from '../providers.ts'
import type { Exchange } from '../transport/exchange.ts'
import { ownIdOf, ownIdTextOf } from './own-ids.ts'
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

test('the own id of a message is the same in every process, and that of a message that is not stored is random', () => {
  const id = aMessageId(77)
  for (const due of [instant(1), instant(Date.UTC(2026, 0, 1)), instant(Date.UTC(2026, 0, 1) + 1)]) {
    const text = ownIdTextOf({ id, due })
    expect([ownIdTextOf({ id, due }), ownIdOf(text)]).toEqual([text, { message: id, tag: ownIdTag(due) }])
  }
  expect(ownIdTextOf({ id })).not.toBe(ownIdTextOf({ id }))
  for (const text of ['77', '077-abc234', '0-abc234', '77-abc23', '77-abc2341', '99999999999999999-abc234'])
    expect(ownIdOf(text)).toBeUndefined()
})
