import type { Handover, DeliveryReceipt, DeliveryReceiptCode } from '@gateway/core/dispatch'
import type { MessageId } from '@gateway/core/messages'
import { secondsAfter } from '@gateway/core/time'
import {
  anAccount,
  aNumber,
  anOrder,
  memoryStore,
  memoryStoredPorts,
  steppingClock,
  type SteppingClock,
} from '@gateway/core/testing'
import { accepted, at, dispatchDue, statusesOf, testCarrier } from '../contracts/shared.ts'

async function setUp() {
  const clock = steppingClock()
  const ports = memoryStoredPorts(memoryStore(clock))
  const { id } = await anAccount(ports)
  const send = async (handover: Handover, number = aNumber()): Promise<MessageId> => {
    const { ids } = await accepted(ports, anOrder(id, { to: [number] }))
    await dispatchDue(ports, 'single', () => handover)
    return at(ids, 0)
  }
  const code = async (message: MessageId) => {
    const [status] = await statusesOf(ports, id, [message])
    return typeof status === 'object' ? status.code : status
  }
  return { ...ports, account: id, clock, send, code }
}

const receipt = (
  clock: SteppingClock,
  reference: string,
  code: DeliveryReceiptCode,
  more: Partial<DeliveryReceipt> = {},
): DeliveryReceipt => ({
  carrier: testCarrier,
  reference,
  code,
  number: aNumber(),
  submitted: clock.now(),
  ...more,
})

test('a message changes its state until it is final, and then never again', async () => {
  const { clock, deliveryReceipts, send, code } = await setUp()
  const id = await send({ outcome: 'accepted', reference: 'r' })
  for (const [first, is] of [
    [105, 105],
    [106, 106],
    [103, 103],
    [0, 103],
    [105, 103],
  ] as const) {
    await deliveryReceipts.apply([receipt(clock, 'r', first)])
    expect(await code(id)).toBe(is)
  }
})

test('receipts that arrive before their message are stored and applied in order of arrival', async () => {
  const { account, clock, deliveryReceipts, send, ...ports } = await setUp()
  await deliveryReceipts.apply([receipt(clock, 'r', 105), receipt(clock, 'x', 0)])
  await deliveryReceipts.apply([receipt(clock, 'r', 0)])
  await deliveryReceipts.apply([receipt(clock, 'r', 103)])
  for (let i = 0; i < 4; i++) expect(await deliveryReceipts.match(2)).toBe(0)
  const id = await send({ outcome: 'accepted', reference: 'r' })
  const arrived = clock.now()
  clock.step(60)
  let found = 0
  for (let i = 0; i < 4; i++) found += await deliveryReceipts.match(2)
  expect(found).toBe(3)
  expect((await statusesOf(ports, account, [id]))[0]).toMatchObject({ code: 0, at: arrived })
})

test('another carrier may use the same reference, and a carrier may reuse it for a newer message', async () => {
  const { clock, deliveryReceipts, send, code } = await setUp()
  const old = await send({ outcome: 'accepted', reference: 'r' })
  const young = await send({ outcome: 'accepted', reference: 'r' })
  await deliveryReceipts.apply([receipt(clock, 'r', 103, { carrier: 'another' as typeof testCarrier })])
  expect(await code(young)).toBe(100)
  await deliveryReceipts.apply([receipt(clock, 'r', 0)])
  expect([await code(old), await code(young)]).toEqual([100, 0])
})

test('a message of unknown outcome adopts a receipt if exactly one of each fits, after a while', async () => {
  const { clock, deliveryReceipts, send, code } = await setUp()
  const id = await send({ outcome: 'unknown' })
  await deliveryReceipts.apply([receipt(clock, 'r', 0)])
  clock.step(30)
  expect(await deliveryReceipts.adopt(60)).toBe(0)
  clock.step(30)
  expect(await deliveryReceipts.adopt(60)).toBe(1)
  expect(await deliveryReceipts.adopt(60)).toBe(0)
  expect(await code(id)).toBe(106)
  expect(await deliveryReceipts.match(10)).toBe(1)
  expect(await code(id)).toBe(0)
})

test('a message adopts no receipt if two fit, the number or time does not, or one may still be in flight', async () => {
  const { clock, deliveryReceipts, claimedBatches, messages, account, send, code } = await setUp()
  const other = aNumber('27829999900')
  const id = await send({ outcome: 'unknown' })
  await deliveryReceipts.apply([
    receipt(clock, 'other', 0, { number: other }),
    receipt(clock, 'nameless', 0, { number: undefined }),
    receipt(clock, 'early', 0, { submitted: secondsAfter(clock.now(), -7200) }),
  ])
  clock.step(60)
  expect(await deliveryReceipts.adopt(60)).toBe(0)
  await send({ outcome: 'unknown' })
  await deliveryReceipts.apply([receipt(clock, 'r', 0)])
  clock.step(60)
  expect(await deliveryReceipts.adopt(60)).toBe(0)

  await send({ outcome: 'unknown' }, other)
  await messages.accept(anOrder(account, { to: [other] }))
  const dispatcher = await claimedBatches.register(600)
  const claimRequest = {
    carrier: testCarrier,
    lane: 'single',
    messagesMax: 1,
    markedMax: 1,
    leaseSeconds: 600,
  } as const
  await claimedBatches.claim(dispatcher, claimRequest)
  expect(await deliveryReceipts.adopt(60)).toBe(0)
  await claimedBatches.retire(dispatcher)
  expect(await code(id)).toBe(106)
})
