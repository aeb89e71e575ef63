import { aNumber, anAccount, chanceOf, memoryPorts, steppingClock } from '@gateway/core/testing'
import { createGateway } from '../gateway.ts'
import type { IdempotencyKey } from '../client-requests/client-requests.ts'
import { secondsAfter } from '../time/instant.ts'
import type { MessageId } from './message-id.ts'
import type { ValidityMinutes } from './send-options.ts'

const number = '27820000001'
const keyOf = (name: string) => name as IdempotencyKey

async function setUp(granted = 100) {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const account = await anAccount(ports, { credits: granted })
  const gateway = createGateway(ports)
  const due = secondsAfter(clock.now(), 3600)
  const later = secondsAfter(clock.now(), 7200)
  const sent = await gateway.commands.sendMessages(account, [
    { text: 'Hello', recipients: [{ number }], scheduled: due },
  ])
  const [first] = typeof sent === 'object' && 'flat' in sent ? sent.flat() : []
  const id = first !== undefined && 'id' in first ? first.id : (0 as MessageId)
  const waiting = async () =>
    (await gateway.queries.listScheduled(account, { offset: 0, limit: 10 })).items.map((one) => [one.id, one.due])
  const balance = () => gateway.queries.creditBalance(account.id)
  return { clock, ports, account, gateway, due, later, id, waiting, balance }
}

test('text and time are changed: one message waits, at the price of the new text', async () => {
  const { gateway, account, id, later, waiting, balance } = await setUp()
  const changed = await gateway.commands.changeScheduled(account, id, { text: 'x'.repeat(161), due: later }, keyOf('a'))
  expect(changed).toEqual({ outcome: 'changed', id: expect.any(Number) as number })
  const newId = changed.outcome === 'changed' ? changed.id : id
  expect(await waiting()).toEqual([[newId, later]])
  expect(await balance()).toBe(80)
  expect((await gateway.queries.findSent(account, newId))?.text).toBe('x'.repeat(161))
  expect(
    await gateway.commands.changeScheduled(account, id, { text: 'x'.repeat(161), due: later }, keyOf('a')),
  ).toEqual(changed)
  expect(await waiting()).toHaveLength(1)
})

test('a changed message keeps the options of its send', async () => {
  const { gateway, account, due, later } = await setUp()
  const options = { validity: 90 as ValidityMinutes, priority: 2, flash: true } as const
  const sent = await gateway.commands.sendMessages(account, [
    { text: 'Hello', recipients: [{ number }], scheduled: due, options },
  ])
  const [first] = typeof sent === 'object' && 'flat' in sent ? sent.flat() : []
  const id = first !== undefined && 'id' in first ? first.id : (0 as MessageId)
  const changed = await gateway.commands.changeScheduled(account, id, { text: 'Hi', due: later }, keyOf('a'))
  expect(changed.outcome === 'changed' && (await gateway.queries.findSent(account, changed.id))?.options).toEqual(
    options,
  )
})

test('a refused change has no effect, and the refund of the old text pays for the new one', async () => {
  const { ports, clock, gateway, account, id, due, waiting, balance } = await setUp(10)
  const change = (text: string, key: string) => gateway.commands.changeScheduled(account, id, { text, due }, keyOf(key))
  expect(await change(' ', 'a')).toEqual({ outcome: 'refused', why: 'no-message' })
  expect(await change('x'.repeat(161), 'b')).toEqual({ outcome: 'refused', why: 'insufficient-credits' })
  expect(await waiting()).toEqual([[id, due]])
  expect(await change('Good day', 'c')).toMatchObject({ outcome: 'changed' })
  expect(await balance()).toBe(0)
  const [[next] = []] = await waiting()
  await ports.suppressions.add({ scope: account.id, number: aNumber(number), kind: 'opt-out', since: clock.now() })
  expect(
    await gateway.commands.changeScheduled(account, next as MessageId, { text: 'Hello', due }, keyOf('d')),
  ).toEqual({
    outcome: 'refused',
    why: 'opted-out',
  })
  expect(await waiting()).toHaveLength(1)
})

test('a message of another account, or an unknown, cancelled or sent one, is not replaced', async () => {
  const { ports, gateway, account, id, due, waiting } = await setUp()
  const other = await anAccount(ports, { credits: 100 })
  const change = { text: 'Hi', due }
  expect(await gateway.commands.changeScheduled(other, id, change, keyOf('a'))).toEqual({ outcome: 'not-found' })
  await gateway.commands.deleteScheduled(account, [id])
  expect(await gateway.commands.changeScheduled(account, id, change, keyOf('b'))).toEqual({ outcome: 'not-found' })
  expect(await waiting()).toEqual([])
  expect(await gateway.queries.creditBalance(other.id)).toBe(100)
})

test('with concurrent deletions, changes and a dispatcher, one message is sent or waits, and is charged once', async () => {
  for (let round = 0; round < 50; round++) {
    const { ports, clock, gateway, account, id, due, later, waiting, balance } = await setUp()
    clock.step(3601)
    const { claimedBatches } = ports
    const dispatcher = await claimedBatches.register(600)
    const dispatch = async () => {
      await claimedBatches.promote(10)
      const claimRequest = {
        carrier: 'one' as never,
        lane: 'single' as const,
        messagesMax: 10,
        markedMax: 10,
        leaseSeconds: 60,
      }
      const batch = await claimedBatches.claim(dispatcher, claimRequest)
      return typeof batch === 'object' ? batch.messages.map((message) => message.id) : []
    }
    const change = (key: string) =>
      gateway.commands.changeScheduled(account, id, { text: 'Hi', due: later }, keyOf(key))
    const all = chanceOf(round).shuffled([dispatch, dispatch, () => change('a'), () => change('a'), () => change('b')])
    const results = await Promise.all(all.map((one) => one()))
    const claimed = results.flatMap((result) => (Array.isArray(result) ? result : []))
    expect([due, claimed.length + (await waiting()).length]).toEqual([due, 1])
    expect(await balance()).toBe(90)
    const changed = results.filter((result) => !Array.isArray(result) && result.outcome === 'changed')
    expect(changed.length > 0).toBe(claimed.length === 0)
  }
})
