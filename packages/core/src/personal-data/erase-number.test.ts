import { strict as assert } from 'node:assert'
import { aNumber, anAccount, anOrder, memoryPorts, steppingClock } from '@gateway/core/testing'
import { createBackOffice } from '../back-office.ts'
import { secondsAfter } from '../time/instant.ts'
import type { SealedSecret } from '../webhooks/secret-box.ts'
import { OtherKeyError } from '../webhooks/signing-secrets.ts'
import { erasedNumber, type PersonalData } from './personal-data.ts'

const [number, other] = [aNumber(), aNumber('27820000100')]
const nothingHeld = { waiting: 0, awaitingReceipt: 0, rowsBeingSent: 0 }

async function setUp() {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const account = await anAccount(ports)
  const send = async (due = 0) => {
    const order = anOrder(account.id, {
      to: [number],
      text: 'hi there',
      ...(due > 0 && { due: secondsAfter(clock.now(), due) }),
    })
    const accepted = await ports.messages.accept(order)
    if (typeof accepted === 'string') throw new Error(accepted)
    return accepted.results.flat()[0] as never
  }
  return { clock, ports, account, send, backOffice: createBackOffice(ports) }
}

test('while a message waits nothing is erased; after it is deleted everything is, and a record is stored', async () => {
  const { ports, account, send, backOffice, clock } = await setUp()
  const id = await send(86_400)
  expect(await backOffice.commands.eraseNumber(number, 'me')).toEqual({ obstacles: { ...nothingHeld, waiting: 1 } })
  expect(await backOffice.queries.listErasures()).toEqual([])
  expect((await backOffice.commands.exportNumber(number)).messages).toMatchObject([{ id, text: 'hi there' }])

  await ports.messages.deleteScheduled(account.id, [id], clock.now())
  const erased = { messages: 1, inbound: 0, contacts: 0, events: 0 }
  const remaining = nothingHeld
  expect(await backOffice.commands.eraseNumber(number, 'me')).toEqual({
    erasure: 1,
    erased,
    remaining,
    suppressions: 0,
  })
  expect(await backOffice.commands.exportNumber(number)).toEqual({
    messages: [],
    inbound: [],
    contacts: [],
    listed: [],
    suppressions: [],
  })
  expect(await backOffice.queries.explainMessage(id)).toMatchObject({ number: erasedNumber, text: { characters: 0 } })
  expect(await backOffice.queries.verifyLedger()).toMatchObject({ differences: [] })

  const [record, ...more] = await backOffice.queries.listErasures(number)
  expect(more).toEqual([])
  expect(record).toMatchObject({ id: 1, by: 'me', erased, ended: expect.any(Number) as number })
  expect(JSON.stringify(record)).not.toContain(number)
  expect(await backOffice.queries.listErasures(other)).toEqual([])
})

test('a message may get its receipt for three days, and prevents the erasure until then', async () => {
  const { ports, send, backOffice, clock } = await setUp()
  const id = await send()
  const dispatcher = await ports.claimedBatches.register(600)
  const claimRequest = {
    carrier: 'a' as never,
    lane: 'single',
    messagesMax: 1,
    markedMax: 1,
    leaseSeconds: 600,
  } as const
  const batch = await ports.claimedBatches.claim(dispatcher, claimRequest)
  if (typeof batch === 'string') throw new Error(batch)
  const [message] = batch.messages
  if (message === undefined) throw new Error('none was claimed')
  expect(await backOffice.queries.erasureObstacles(number)).toEqual({ ...nothingHeld, waiting: 1 })
  await ports.claimedBatches.record(dispatcher, [
    { batch: batch.id, message, handover: { outcome: 'accepted', reference: 'r' } },
  ])
  expect(await backOffice.commands.eraseNumber(number, 'me')).toEqual({
    obstacles: { ...nothingHeld, awaitingReceipt: 1 },
  })
  clock.step(3 * 86_400)
  expect(await backOffice.commands.eraseNumber(number, 'me')).toMatchObject({ erased: { messages: 1 } })
  expect((await backOffice.queries.explainMessage(id))?.number).toBe(erasedNumber)
})

test('data of messages sent during an erasure stays and is reported', async () => {
  const { ports, send, backOffice } = await setUp()
  const { personalData } = ports
  const sending = {
    ...ports,
    personalData: {
      ...personalData,
      erase: async (...args: Parameters<PersonalData['erase']>) => {
        if (args[1].at === 'events') await send()
        return personalData.erase(...args)
      },
    },
  }
  expect(await createBackOffice(sending).commands.eraseNumber(number, 'me')).toMatchObject({
    erased: { messages: 0 },
    remaining: { ...nothingHeld, waiting: 1 },
  })
  expect((await backOffice.commands.exportNumber(number)).messages).toMatchObject([{ text: 'hi there' }])
})

test('a list is exported with its text; while it is sent nothing is erased, and sends started meanwhile are reported', async () => {
  const { ports, account, backOffice } = await setUp()
  const { bulkSends, personalData } = ports
  const draft = { columns: ['Name'], text: 'Dear {name}', scheduled: undefined, key: 'k' }
  const rows = [{ row: 1, number, fields: ['Ann'] }]
  const sends = [await bulkSends.add(account.id, draft, [rows]), await bulkSends.add(account.id, draft, [rows])]
  const [first = assert.fail(), second = assert.fail()] = sends
  expect((await backOffice.commands.exportNumber(number)).listed).toMatchObject([
    { send: { id: first, account: account.id, state: 'draft', text: 'Dear {name}' }, row: rows[0], isBeingSent: false },
    { send: { id: second } },
  ])
  await bulkSends.start(account.id, first, 0)
  expect(await backOffice.commands.eraseNumber(number, 'me')).toEqual({
    obstacles: { ...nothingHeld, rowsBeingSent: 1 },
  })
  expect((await backOffice.commands.exportNumber(number)).listed).toHaveLength(2)
  await bulkSends.end(first, 0, { accepted: [], messages: 0, cost: 0 as never, refusedRows: rows })
  const starting = {
    ...ports,
    personalData: {
      ...personalData,
      erase: async (...args: Parameters<PersonalData['erase']>) => {
        if (args[1].at === 'contacts') await bulkSends.start(account.id, second, 0)
        return personalData.erase(...args)
      },
    },
  }
  expect(await createBackOffice(starting).commands.eraseNumber(number, 'me')).toMatchObject({
    remaining: { ...nothingHeld, rowsBeingSent: 1 },
  })
  expect(await bulkSends.rows(account.id, first, 0)).toEqual([{ row: 1, number: erasedNumber, fields: [] }])
  expect(await bulkSends.rows(account.id, second, 0)).toEqual(rows)
})

test('an interrupted erasure has a record without an end, and starts again from its beginning', async () => {
  const { ports, account, send, backOffice, clock } = await setUp()
  await ports.messages.deleteScheduled(account.id, [await send(60)], clock.now())
  const broken = {
    ...ports,
    personalData: { ...ports.personalData, end: () => Promise.reject(new Error('gone')) },
  }
  await expect(createBackOffice(broken).commands.eraseNumber(number, 'me')).rejects.toThrow('gone')
  expect(await backOffice.queries.listErasures()).toMatchObject([{ ended: undefined }])
  expect(await backOffice.commands.eraseNumber(number, 'me')).toMatchObject({ erased: { messages: 0 } })
  expect(await backOffice.queries.listErasures(number)).toMatchObject([
    { id: 2, ended: expect.any(Number) as number },
    { id: 1 },
  ])
})

test('if this process lacks the key of stored data nothing is done, unless the key was lost', async () => {
  const { ports, account } = await setUp()
  const sealed = 'of another key' as SealedSecret
  await createBackOffice({ ...ports, secretBox: { ...ports.secretBox, seal: () => sealed } }).commands.addWebhook(
    account.id,
    {
      url: 'https://receiver.example/',
    },
  )
  await expect(createBackOffice(ports).commands.eraseNumber(number, 'me')).rejects.toThrow(OtherKeyError)
  expect(await createBackOffice(ports).queries.listErasures()).toEqual([])
  expect(await createBackOffice(ports).commands.eraseNumber(number, 'me', { despiteKey: true })).toMatchObject({
    erasure: 1,
  })
})
