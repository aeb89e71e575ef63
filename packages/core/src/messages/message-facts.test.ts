import { aNumber } from '@gateway/core/testing'
import { credits } from '../credits/credits.ts'
import { instant } from '../time/instant.ts'
import {
  creditsOf,
  deliveryState,
  hasOutcome,
  statusOf,
  type DeliveryState,
  type Outcome,
  type SentCredits,
} from './message-facts.ts'
import { readReference } from './messages.ts'
import { OUTCOME, type OutcomeCode } from './status-code.ts'

const number = aNumber()
const known = (code: OutcomeCode, isCharged: boolean) => ({
  code,
  staysCharged: isCharged,
  number,
  at: instant(0),
  cost: credits(0),
})

const outcomeOf = (code: OutcomeCode, hasReference: boolean): Outcome => ({ code, at: instant(0), hasReference })

test.each<[OutcomeCode, boolean, DeliveryState]>([
  [0, true, 'delivered'],
  [100, true, 'sent'],
  [105, true, 'sent'],
  [106, true, 'sent'],
  [101, true, 'not-delivered'],
  [102, true, 'not-delivered'],
  [103, true, 'not-delivered'],
  [107, true, 'not-delivered'],
  [213, true, 'not-delivered'],
  [101, false, 'not-sent'],
  [102, false, 'not-sent'],
  [111, false, 'not-sent'],
  [202, false, 'not-sent'],
  [212, false, 'not-sent'],
  [213, false, 'not-sent'],
  [214, false, 'not-sent'],
])('code %i, taken by a carrier: %s, is %s', (code, isCharged, state) => {
  expect(deliveryState(known(code, isCharged))).toBe(state)
  expect(hasOutcome(known(code, isCharged))).toBe(true)
})

test.each<[title: string, outcome: Outcome | undefined, SentCredits]>([
  ['a message that waits', undefined, { charged: 10, returned: 0, net: 10 } as never],
  ['one that a carrier took', outcomeOf(OUTCOME.undeliverable, true), { charged: 10, returned: 0, net: 10 } as never],
  ['one that no carrier took', outcomeOf(OUTCOME.refused, false), { charged: 10, returned: 10, net: 0 } as never],
  [
    'one that the operator returned',
    { ...outcomeOf(OUTCOME.delivered, true), isRefunded: true },
    { charged: 10, returned: 10, net: 0 } as never,
  ],
])('the credits of %s: charged, returned, net', (_, outcome, expected) => {
  const status = statusOf({ number, cost: credits(10), due: instant(0), outcome }, instant(0))
  expect(creditsOf(status)).toEqual(expected)
})

test('a waiting message and an id that is not found have no outcome', () => {
  const waiting = { code: 'waiting', number, cost: credits(10) } as const
  expect([deliveryState(waiting), hasOutcome(waiting)]).toEqual(['waiting', false])
  expect([deliveryState('not-found'), hasOutcome('not-found')]).toEqual(['not-found', false])
})

test.each<[string, string | null | undefined, string | undefined]>([
  ['none', undefined, undefined],
  ['null', null, undefined],
  ['a blank one', ' \t ', undefined],
  ['white space around it', ' order 7 ', 'order 7'],
  ['64 characters, whatever they take', '😀'.repeat(64), '😀'.repeat(64)],
  ['65 characters', 'x'.repeat(65), 'unusable'],
  ['a line break', 'a\nb', 'unusable'],
  ['a control character above ASCII', 'a\u0085b', 'unusable'],
  ['a lone surrogate', 'a\ud83d', 'unusable'],
])('a reference: %s (ruling 1.28)', (_, text, expected) => {
  expect(readReference(text)).toBe(expected)
})
