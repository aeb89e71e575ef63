import { aMessageId, anAccount, memoryPorts, numbers, steppingClock } from '@gateway/core/testing'
import type { Account } from '../accounts/account.ts'
import { createGateway, type Gateway } from '../gateway.ts'
import { secondsAfter, type Instant } from '../time/instant.ts'
import type { MessageId } from './message-id.ts'

const dayMilliseconds = 86_400

test('a waiting message has the status waiting at any age, and other accounts cannot see it', async () => {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const gateway = createGateway(ports)
  const [mine, foreign] = [await anAccount(ports), await anAccount(ports)]
  const results = await gateway.commands.sendMessages(mine, [{ text: 'hi', recipients: numbers(1) }])
  if (typeof results === 'string' || 'overLimitSeconds' in results) throw new Error('not sent')
  const [result] = results.flat()
  if (result === undefined || !('id' in result)) throw new Error('refused')
  const waiting = { code: 'waiting', number: result.number, cost: result.cost }

  const unknown = aMessageId(result.id + 1)
  expect(await gateway.queries.queryStatus(mine, [result.id, unknown, result.id])).toEqual([
    waiting,
    'not-found',
    waiting,
  ])
  expect(await gateway.queries.queryStatus(foreign, [result.id, unknown])).toEqual(['not-found', 'not-found'])
  clock.step(91 * dayMilliseconds)
  expect(await gateway.queries.queryStatus(mine, [result.id])).toEqual([waiting])
})

const day = 86_400

async function opened() {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  return { clock, ports, gateway: createGateway(ports), account: await anAccount(ports, { credits: 100 }) }
}

async function send(gateway: Gateway, by: Account, count: number, scheduled?: Instant): Promise<readonly MessageId[]> {
  const results = await gateway.commands.sendMessages(by, [
    { text: 'hi', recipients: numbers(count), ...(scheduled && { scheduled }) },
  ])
  if (typeof results === 'string' || 'overLimitSeconds' in results) throw new Error('not sent')
  return results.flat().flatMap((result) => ('id' in result ? result.id : []))
}

test('a scheduled message is charged on acceptance, listed until it is deleted, and then refunded once', async () => {
  const { clock, gateway, account } = await opened()
  const ids = await send(gateway, account, 3, secondsAfter(clock.now(), day))
  expect(await gateway.queries.creditBalance(account.id)).toBe(70)
  const listed = await gateway.queries.listScheduled(account, { offset: 1, limit: 5 })
  expect(listed.total).toBe(3)
  expect(listed.items.map(({ id }) => id)).toEqual(ids.slice(1))
  const [first = 0 as MessageId, second = 0 as MessageId] = ids
  const deletions = await gateway.commands.deleteScheduled(account, [second, first, second])
  expect(deletions.map(({ outcome }) => outcome)).toEqual(['deleted', 'deleted', 'not-found'])
  expect(await gateway.queries.creditBalance(account.id)).toBe(90)
  expect((await gateway.queries.listScheduled(account, { offset: 0, limit: 5 })).items.map(({ id }) => id)).toEqual(
    ids.slice(2),
  )
  expect(await gateway.queries.queryStatus(account, [first])).toMatchObject([{ code: 102, cost: 0 }])
})

test('a locked account lists and deletes scheduled messages, and gets its refund (ruling 1.14)', async () => {
  const { clock, ports, gateway, account } = await opened()
  const ids = await send(gateway, account, 2, secondsAfter(clock.now(), day))
  await ports.accounts.setLocked(account.id, true)
  const locked = { ...account, locked: true }
  expect((await gateway.queries.listScheduled(locked, { offset: 0, limit: 5 })).total).toBe(2)
  expect(await gateway.commands.deleteScheduled(locked, ids)).toMatchObject([{ refunded: 10 }, { refunded: 10 }])
  expect(await gateway.queries.creditBalance(locked.id)).toBe(100)
})

test('90 days after its due time a decided message is not found, a waiting one still is (ruling 1.15)', async () => {
  const { clock, ports, gateway, account } = await opened()
  const [old = 0 as MessageId] = await send(gateway, account, 1)
  const [waiting = 0 as MessageId] = await send(gateway, account, 1, secondsAfter(clock.now(), 200 * day))
  await ports.claimedBatches.expire(-1, 10)
  const outcomes = async () => (await gateway.commands.deleteScheduled(account, [old])).map(({ outcome }) => outcome)
  clock.step(90 * day)
  expect(await outcomes()).toEqual(['sent'])
  clock.step(0.001)
  expect(await outcomes()).toEqual(['not-found'])
  clock.step(150 * day)
  expect(await gateway.commands.deleteScheduled(account, [waiting])).toMatchObject([{ outcome: 'deleted' }])
})
