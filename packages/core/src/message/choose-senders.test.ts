import { aCarrierId, anAccount, anAddress, aNumber, memoryPorts, numbers } from '@gateway/core/testing'
import { createGateway } from '../gateway.ts'
import type { Ports } from '../ports.ts'
import { chooseSenders } from './choose-senders.ts'

const [poolA, poolB, code] = [anAddress('12025550111'), anAddress('12025550112'), anAddress('40404')]
const untouched: Pick<Ports, 'senders'> = {
  senders: {
    choose: () => Promise.reject(new Error('asked without need')),
    assign: () => Promise.reject(new Error('not here')),
    release: () => Promise.reject(new Error('not here')),
    assigned: () => Promise.reject(new Error('not here')),
  },
}

test('an account with a code sends from its first one, without a look anywhere', async () => {
  const account = { ...(await anAccount(memoryPorts())), shortCodes: [code, poolB] }
  const senderOf = await chooseSenders(untouched, account, [aNumber()], [poolA, poolB])
  expect(senderOf(aNumber())).toBe(code)
})

test('a pool of one needs no look either; nor does a call that nobody passed', async () => {
  const account = await anAccount(memoryPorts())
  expect((await chooseSenders(untouched, account, [aNumber()], [poolA]))(aNumber())).toBe(poolA)
  await expect(chooseSenders(untouched, account, [], [poolA, poolB])).resolves.toBeDefined()
})

test('with two addresses a number hears two accounts from different ones, each always from the same', async () => {
  const ports = memoryPorts()
  const gateway = createGateway(ports, { senders: [poolA, poolB], takenMax: 10 })
  const [one, two] = [await anAccount(ports), await anAccount(ports)]
  for (const account of [one, two, one, two, one]) {
    const sent = await gateway.sendMessages(account, [{ text: 'hi', recipients: [...numbers(3), aNumber()] }])
    expect(typeof sent).toBe('object')
  }
  const dispatcher = await ports.claimedBatches.register(60)
  const wanted = { carrier: aCarrierId(), lane: 'single', messagesMax: 100, markedMax: 100, leaseSeconds: 60 } as const
  const batch = await ports.claimedBatches.claim(dispatcher, wanted)
  if (typeof batch === 'string') throw new Error(batch)
  expect(batch.messages).toHaveLength(20)
  for (const number of numbers(3)) {
    const heard = (account: typeof one) =>
      new Set(batch.messages.filter((m) => m.account === account.id && m.to === number).map(({ from }) => from))
    expect([heard(one).size, heard(two).size, new Set([...heard(one), ...heard(two)]).size]).toEqual([1, 1, 2])
  }
})
