import { Client } from 'pg'
import type { StoredPorts } from '@gateway/core'
import type { Asleep, Sleeper } from '@gateway/core/dispatch'
import { aCarrierId, anAccount, anOrder, numbers, until } from '@gateway/core/testing'
import { cuttableDatabase, type CuttableDatabase } from '../../testing/cuttable-database.ts'
import { freshDatabase } from '../../testing/fresh-database.ts'
import { postgresPorts } from '../postgres-ports.ts'
import { channelOfIdle } from '../sql/idle-dispatchers.ts'

let database: CuttableDatabase

beforeEach(async () => {
  database = await cuttableDatabase()
})
afterEach(() => database.drop())

const asleep = (sleeper: Sleeper): Promise<Asleep> =>
  until(async () => {
    const answer = await sleeper.sleep().catch(() => 'deaf' as const)
    return answer !== 'deaf' && answer
  })

async function aSender(ports: StoredPorts): Promise<() => Promise<unknown>> {
  const { id } = await anAccount(ports)
  return () => ports.messages.accept(anOrder(id, { to: numbers(1) }))
}

const rows = async (): Promise<number> => {
  const { rowCount } = await database.client.query('select from idle_dispatcher')
  return rowCount ?? 0
}

test('a sleeper that loses its connection is woken, and is notified again over the next connection', async () => {
  let woken = 0
  const sleeper = database.cuttable.ports.claimedBatches.sleeper(() => woken++)
  const send = await aSender(database.direct.ports)
  await asleep(sleeper)
  for (let cuts = 0; cuts < 2; cuts++) {
    const before = woken
    database.proxy.breakAll()
    await until(() => woken > before)
    await asleep(sleeper)
    const listening = woken
    await send()
    await until(() => woken > listening)
  }
})

test('without a sleeper no commit sends a notification', async () => {
  const heard: string[] = []
  const { rows: channels } = await database.client.query<{ channel: string }>(channelOfIdle)
  await database.client.query(`listen ${channels[0]?.channel ?? ''}`)
  database.client.on('notification', ({ channel }) => heard.push(channel))
  const send = await aSender(database.direct.ports)
  const sleeper = database.direct.ports.claimedBatches.sleeper(() => undefined)
  await send()
  await asleep(sleeper)
  await sleeper.awake()
  await send()
  // Notifications arrive before the answer to a later query.
  await database.client.query('select')
  expect(heard).toEqual([])
  await asleep(sleeper)
  await send()
  await until(() => heard.length === 1)
  expect(heard).toEqual([channels[0]?.channel])
})

test('a sleeper whose process died is not notified after its time and leaves no row; nor does a closed one', async () => {
  const ended = database.direct.ports.claimedBatches.sleeper(() => undefined)
  const other = database.direct.ports.claimedBatches.sleeper(() => undefined)
  await asleep(ended)
  await database.client.query(`update idle_dispatcher set until = now() - interval '1 s'`)
  await asleep(other)
  expect(await rows()).toBe(1)
  await asleep(other)
  expect(await rows()).toBe(1)
  await other.close()
  expect(await rows()).toBe(0)
})

test('gateways in two schemas of a database do not wake each other', async () => {
  const another = await freshDatabase()
  const apart = postgresPorts({ connectionString: another.connectionString })
  try {
    const woken = { here: 0, there: 0 }
    const here = database.direct.ports.claimedBatches.sleeper(() => woken.here++)
    const there = apart.ports.claimedBatches.sleeper(() => woken.there++)
    const send = await aSender(database.direct.ports)
    await Promise.all([asleep(here), asleep(there)])
    const before = { ...woken }
    await send()
    await until(() => woken.here > before.here)
    // A sleeper that sleeps again has received all earlier notifications.
    await asleep(there)
    expect(woken.there).toBe(before.there)
  } finally {
    await apart.close()
    await another.drop()
  }
})

test('an accept that began before the sleep is visible to the next look, and wakes no process', async () => {
  let woken = 0
  const { ports } = database.direct
  const { id } = await anAccount(ports)
  const sleeper = ports.claimedBatches.sleeper(() => woken++)
  const holder = new Client({ connectionString: database.connectionString })
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query('select from account where id = $1 for update', [id])
    const accepting = ports.messages.accept(anOrder(id, { to: numbers(1) }))
    await until(() => database.blockedBy(holder))
    await asleep(sleeper)
    const before = woken
    await holder.query('rollback')
    await accepting
    await asleep(sleeper)
    expect(woken).toBe(before)
    const dispatcher = await ports.claimedBatches.register(60)
    const request = {
      carrier: aCarrierId(),
      lane: 'single',
      messagesMax: 10,
      markedMax: 10,
      leaseSeconds: 60,
    } as const
    expect(await ports.claimedBatches.claim(dispatcher, request)).toMatchObject({ messages: [{ account: id }] })
  } finally {
    await holder.end()
  }
})
