import { anAccount, anAccountId, anAddress, memoryPorts } from '@gateway/core/testing'
import { chooseSender } from '../../testing/contracts/specification/messages.ts'
import { preferredBy, sendersOf } from './senders.ts'

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

test('accounts prefer the addresses of a pool in turn', () => {
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
