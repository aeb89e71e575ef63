import { aCarrierId, anAccount, anAccountId, anAddress, aNumber, aSender, memoryPorts } from '@gateway/core/testing'
import { chooseSender } from '../../testing/contracts/specification/messages.ts'
import { preferredBy, readSender, senderFor, senderOver, sendersOf, type AllowedSender } from './senders.ts'

const [poolA, poolB, poolC, code] = [
  anAddress('12025550111'),
  anAddress('12025550112'),
  anAddress('12025550113'),
  anAddress('40404'),
]
const pool = [poolA, poolB, poolC]

test('an account with codes sends from its first one, any other from the pool', async () => {
  const account = await anAccount(memoryPorts())
  expect(sendersOf(account, pool)).toEqual(pool)
  expect(sendersOf({ ...account, shortCodes: [code, poolB] }, pool)).toEqual([code])
})

test('accounts start at different addresses of a pool', () => {
  expect([3, 4, 5].map((by) => preferredBy(anAccountId(by), pool)[0])).toEqual(pool)
  expect(preferredBy(anAccountId(4), pool)).toEqual([poolB, poolC, poolA])
})

test.each([
  ['that it has been heard at before, also where others are', poolB, [poolB], poolB],
  ['that no other account has', undefined, [poolA], poolB],
  ['that it prefers, where others have them all', undefined, pool, poolA],
  ['anew, where the one of before is not in the pool any more', code, [poolA], poolB],
] as const)('a number hears an account at the address %s', (_, before, ofOthers, expected) => {
  expect(chooseSender(pool, before, new Set(ofOthers))).toBe(expected)
})

test.each<[string, string | null | undefined, string | undefined]>([
  ['none', undefined, undefined],
  ['null', null, undefined],
  ['a blank one', ' \t ', undefined],
  ['three digits', ' 123 ', '123'],
  ['fifteen digits, the first a zero', '012345678901234', '012345678901234'],
  ['two digits', '12', 'unusable'],
  ['sixteen digits', '1234567890123456', 'unusable'],
  ['one letter', 'A', 'A'],
  ['letters and digits', '24x7', '24x7'],
  ['eleven characters', 'Acme & Söhne', 'unusable'],
  ['eleven characters, one of them not ASCII', 'Acme&Söhne1', 'Acme&Söhne1'],
  ['twelve characters', 'AcmeAndSonsX', 'unusable'],
  ['an escaped character, which takes two', 'Acme [Sons]', 'unusable'],
  ['no letter', '+-*/', 'unusable'],
  ['a letter that GSM 7-bit lacks', 'Жук', 'unusable'],
  ['a line break', 'Ac\nme', 'unusable'],
  ['U+0000', 'Ac\0me', 'unusable'],
])('a sender: %s (ruling 1.27)', (_, text, expected) => {
  expect(readSender(text)).toBe(expected)
})

const [one, two] = [aCarrierId('one'), aCarrierId('two')]
const allowed = (sender: string, says: Partial<AllowedSender> = {}): AllowedSender => ({
  ...{ account: anAccountId(1), sender: aSender(sender), destinations: [], defaultFor: [], carriers: [] },
  ...{ otherwise: 'replace', ...says },
})
const list = [
  allowed('Acme', { defaultFor: [''] }),
  allowed('Acme ZA', { destinations: ['27', '264'], defaultFor: ['27'] }),
  allowed('Alert', { destinations: ['27'], otherwise: 'refuse' }),
  allowed('Beta', { defaultFor: ['2782', '44'], destinations: ['27'], carriers: [one] }),
  allowed('Gamma', { carriers: [one], otherwise: 'refuse' }),
]

test.each<[named: string | undefined, to: string, sender: string | undefined]>([
  [undefined, '4915112345678', 'Acme'],
  [undefined, '27115550101', 'Acme ZA'],
  [undefined, '27825550101', 'Beta'],
  // Beta is the default for 44 but not allowed there.
  [undefined, '447700900123', 'Acme'],
  ['Acme', '27825550101', 'Acme'],
  ['Acme ZA', '264811234567', 'Acme ZA'],
  ['Acme ZA', '4915112345678', 'Acme'],
  ['Alert', '27825550101', 'Alert'],
  ['Alert', '4915112345678', 'refused'],
  // 40404 is a code of the account. It has no settings as an allowed sender.
  ['40404', '4915112345678', '40404'],
])('a message that names %s to %s leaves from %s', (named, to, sender) => {
  expect(senderFor(list, named === undefined ? undefined : aSender(named), aNumber(to))).toBe(sender)
})

test('without a default a message is sent as if the account had no allowed senders', () => {
  const only = [allowed('Alert', { destinations: ['27'] })]
  expect(senderFor(only, undefined, aNumber('27825550101'))).toBeUndefined()
  expect(senderFor(only, aSender('Alert'), aNumber('4915112345678'))).toBeUndefined()
})

test.each<[string, typeof one, string | undefined, readonly (typeof one)[] | undefined]>([
  ['Acme', two, 'Acme', undefined],
  ['Beta', one, 'Beta', undefined],
  ['Beta', two, undefined, undefined],
  ['Gamma', one, 'Gamma', undefined],
  ['Gamma', two, 'Gamma', [one]],
  ['40404', two, '40404', undefined],
])('of a message from %s carrier %s is given %s, or only others: %s', (from, carrier, sender, onlyOver) => {
  expect(senderOver(carrier, list, aSender(from))).toEqual({ from: sender, onlyOver })
})
