import type { CarrierHandlers, DeliveryReceipt } from '@gateway/core/dispatch'
import { numbers, until } from '@gateway/core/testing'
import { endAll, start } from '../../testing/an-smsc.ts'
import { COMMAND_STATUS } from '@gateway/smpp'

afterEach(endAll)

/** Creates a store that matches messages by reference and number, like the real one. */
const storeOf = (messages: ReadonlyMap<string, string>) => {
  const keptIds: string[] = []
  const store = (receipts: readonly DeliveryReceipt[]) => {
    const strangers = receipts.filter(({ reference, number }) => messages.get(reference) !== number)
    keptIds.push(...strangers.filter(({ isGuess }) => isGuess !== true).map(({ reference }) => reference))
    return Promise.resolve(strangers)
  }
  return { store, keptIds }
}
const receiptOf = (id: string, sourceAddr: string) => ({
  ...{ esmClass: 4, sourceAddr, shortMessage: Buffer.from(`id:${id} stat:DELIVRD`) },
})

test.each([
  ['hex', ['ff01', 'ff02', 'ff03', 'ff04'], ['65281', '65282', '65283', '65284']],
  ['decimal', ['65281', '65282', '65283', '65284'], ['FF01', 'ff02', 'FF03', 'ff04']],
  ['HEX-8', ['0000FF01', '0000FF02', '0000FF03', '0000FF04'], ['65281', '0065282', '65283', '65284']],
  ['upper', ['AB1', 'AB2', 'AB3', 'AB4'], ['ab1', 'ab2', 'ab3', 'ab4']],
  ['without-zeros', ['11', '12', '13', '14'], ['0011', '0012', '0013', '0014']],
] as const)(
  'the form %s is found, adopted and logged; all receipts reach their messages',
  async (form, answered, receiptIds) => {
    const people = numbers(4)
    const messages = new Map<string, string>(answered.map((reference, i) => [reference, String(people[i])]))
    const { store, keptIds } = storeOf(messages)
    const { smsc, carrier, receipts, problems } = await start({}, undefined, store)
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    for (const [i, id] of receiptIds.entries()) await smsc.deliver(receiptOf(id, String(people[i])))
    await until(() => receipts.length === 4)
    expect(receipts.map(({ reference }) => reference)).toEqual(answered)
    expect(carrier.status().receipts.form).toBe(form)
    expect(problems.map(String).join()).toContain(`receiptId=${form}`)
    expect(carrier.status().lastError).toBeUndefined()
    expect(keptIds).toEqual([])
  },
)

test('a carrier that changes its form of ids is understood again, and the operator is notified', async () => {
  const people = numbers(8).map(String)
  const answered = ['ff01', '1002', 'ff03', '1004', 'ff05', '1006', '1007', 'ff08']
  const { store, keptIds } = storeOf(new Map(answered.map((reference, i) => [reference, people[i] ?? ''])))
  const { smsc, carrier, receipts, problems } = await start({}, undefined, store)
  await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  const forms: unknown[] = []
  for (const [i, id] of answered.entries()) {
    await smsc.deliver(receiptOf(i < 4 ? String(parseInt(id, 16)) : id, people[i] ?? ''))
    if (i % 4 === 3) forms.push(carrier.status().receipts.form)
  }
  await until(() => receipts.length === 8)
  expect(receipts.map(({ reference }) => reference)).toEqual(answered)
  expect(forms).toEqual(['hex', 'as-is'])
  expect(problems.map(String).filter((one) => one.includes('receiptId='))).toHaveLength(2)
  expect(keptIds.filter((reference) => answered.includes(reference))).toEqual([])
})

test('a decimal id that is another message’s hexadecimal one reaches its own message', async () => {
  const [one, two] = numbers(2).map(String)
  const { store } = storeOf(
    new Map([
      ['10', one ?? ''],
      ['16', two ?? ''],
    ]),
  )
  const { smsc, carrier, receipts } = await start({}, undefined, store)
  await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  await smsc.deliver(receiptOf('16', one ?? ''))
  expect(receipts).toMatchObject([{ reference: '10', number: one }])
})

test('receipts without a message before the form was known are matched in it, and unknown ids are kept', async () => {
  const people = numbers(5).map(String)
  const messages = new Map<string, string>()
  const { store, keptIds } = storeOf(messages)
  const { smsc, carrier, receipts } = await start({}, undefined, store)
  await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  await smsc.deliver(receiptOf('65281', people[0] ?? ''))
  await smsc.deliver(receiptOf('999999', people[4] ?? ''))
  expect([receipts, keptIds]).toEqual([[], ['65281', '999999']])
  ;['ff01', 'ff02', 'ff03', 'ff04'].forEach((reference, i) => messages.set(reference, people[i] ?? ''))
  for (const [i, id] of ['65282', '65283', '65284'].entries()) await smsc.deliver(receiptOf(id, people[i + 1] ?? ''))
  await until(() => receipts.length === 4)
  expect(receipts.map(({ reference }) => reference).toSorted()).toEqual(['ff01', 'ff02', 'ff03', 'ff04'])
  expect(keptIds).toContain('999999')
})

test('the learned form survives a restart, and the operator is not notified again', async () => {
  const people = numbers(5).map(String)
  const answered = ['ff01', 'ff02', 'ff03', 'ff04', 'ff05']
  const receiptIds = ['65281', '65282', '65283', '65284', '65285']
  const { store } = storeOf(new Map(answered.map((reference, i) => [reference, people[i] ?? ''])))
  let word: string | undefined
  let failures = 2
  const memory: CarrierHandlers['receiptForm'] = {
    learned: () => (failures-- > 1 ? Promise.reject(new Error('away')) : Promise.resolve(word)),
    keep: (form) => (failures-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve(void (word = form))),
  }
  const one = await start({}, undefined, store, { receiptForm: memory })
  await until(() => one.carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  expect(await one.smsc.deliver(receiptOf('65281', people[0] ?? ''))).toBe(COMMAND_STATUS.ESME_RX_T_APPN)
  for (const [i, id] of receiptIds.entries()) await one.smsc.deliver(receiptOf(id, people[i] ?? ''))
  await until(() => word === 'hex')
  await one.carrier.close(Promise.resolve())

  const offers: DeliveryReceipt[] = []
  const after = (some: readonly DeliveryReceipt[]) => {
    offers.push(...some)
    return store(some)
  }
  const two = await start({}, undefined, after, { receiptForm: memory })
  await until(() => two.carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  expect(await two.smsc.deliver(receiptOf('65284', people[3] ?? ''))).toBe(0)
  expect(offers).toMatchObject([{ reference: 'ff04' }])
  expect(two.carrier.status().receipts).toEqual({ received: 1, missed: 0, form: 'hex' })
  expect(two.problems).toEqual([])
})

test('the configured form takes precedence over the learned one', async () => {
  const memory = { learned: () => Promise.resolve('upper'), keep: () => Promise.reject(new Error('not to be kept')) }
  const { smsc, carrier, receipts, problems } = await start({ receiptId: 'hex' }, undefined, undefined, {
    receiptForm: memory,
  })
  await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  for (let i = 0; i < 4; i++) await smsc.deliver(receiptOf('255', '27825550101'))
  expect(receipts.map(({ reference }) => reference)).toEqual(['ff', 'ff', 'ff', 'ff'])
  expect(problems).toEqual([])
})

test('a configured form is never replaced', async () => {
  const { smsc, carrier, receipts } = await start({ receiptId: 'hex' })
  await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  await smsc.deliver(receiptOf('255', '27825550101'))
  expect(receipts).toMatchObject([{ reference: 'ff' }])
})
