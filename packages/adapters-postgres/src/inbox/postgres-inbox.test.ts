import { Client } from 'pg'
import type { StoredPorts } from '@gateway/core'
import { instant } from '@gateway/core/time'
import { aNumber, anAccount, numbers, testChance } from '@gateway/core/testing'
import { cutConnections } from '../../testing/cut-connections.ts'
import { cuttableDatabase, type CuttableDatabase } from '../../testing/cuttable-database.ts'
import type { Cut } from '../../testing/cutting-proxy.ts'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { aReply, confirmation, inboxTexts, sentTo } from '../../testing/replies.ts'
import { isLostAnswer } from '../errors.ts'
import { postgresPorts, type PostgresPorts } from '../postgres-ports.ts'
import { patientSettings } from '../../testing/patient-settings.ts'

const longAgo = instant(0)

describe('after a lost answer', () => {
  let world: CuttableDatabase
  beforeEach(async () => {
    world = await cuttableDatabase()
  })
  afterEach(() => world.drop())

  const count = async (from: string) =>
    (await world.client.query<{ count: number }>(`select count(*)::int from ${from}`)).rows[0]?.count

  const cuts: readonly (readonly [Cut, string])[] = [
    ['before-it-arrives', 'receive-texts'],
    ['after-it-arrived', 'receive-texts'],
    ['before-its-answer', 'receive-texts'],
    ['before-it-arrives', 'store-confirmations'],
    ['after-it-arrived', 'store-confirmations'],
    ['before-its-answer', 'store-confirmations'],
    ['before-it-arrives', 'commit'],
    ['after-it-arrived', 'commit'],
    ['before-its-answer', 'commit'],
  ]
  test.each(cuts)('%s (%s), messages are stored once, with one confirmation', async (where, text) => {
    const { cuttable, direct, proxy } = world
    const { id } = await anAccount(direct.ports)
    await sentTo(direct.ports, id)
    const part = (number: number) => ({ group: 1, number, of: 2 })
    await cuttable.ports.inbox.receive([aReply({ text: 'first' })], confirmation)
    const cut = proxy.cut(where, text)
    const results = await cuttable.ports.inbox.receive(
      [
        aReply({ text: 'stop', reference: 'a' }),
        aReply({ text: 'stop', reference: 'a' }),
        aReply({ text: 'again' }),
        aReply({ text: 'one', part: part(1) }),
        aReply({ text: 'one', part: part(1) }),
      ],
      confirmation,
    )
    await cut
    expect(results).toEqual(['stored', 'repeated', 'stored', 'incomplete', 'repeated'])
    expect(await inboxTexts(direct.ports, id)).toEqual(['first', 'stop', 'again'])
    expect(await count('send where confirms_opt_out')).toBe(1)
    expect(await count('due')).toBe(1)
    expect(await cuttable.ports.inbox.receive([aReply({ text: ' two', part: part(2) })], confirmation)).toEqual([
      'stored',
    ])
    expect((await inboxTexts(direct.ports, id)).at(-1)).toBe('one two')
  })

  test.each<Cut>(['before-it-arrives', 'after-it-arrived', 'before-its-answer'])(
    '%s, no message is claimed, and the next call returns it',
    async (where) => {
      const { cuttable, direct, proxy } = world
      const { id } = await anAccount(direct.ports)
      await sentTo(direct.ports, id)
      await direct.ports.inbox.receive([aReply({ text: 'a' }), aReply({ text: 'b' })], confirmation)
      const cut = proxy.cut(where, 'take-all')
      const failed = await cuttable.ports.inbox.take(id, 'all', longAgo, 10).catch((error: unknown) => error)
      await cut
      expect(isLostAnswer(failed)).toBe(true)
      const { messages } = await direct.ports.inbox.take(id, 'all', longAgo, 10)
      expect(messages.map(({ text }) => text)).toEqual(['a', 'b'])
    },
  )

  test('a failed call that is repeated with the same objects stores only the messages that were not stored', async () => {
    const { cuttable, direct, client } = world
    const { id } = await anAccount(direct.ports)
    await sentTo(direct.ports, id)
    await client.query(`create function refuse() returns trigger language plpgsql as $$
      begin if new.text = 'poison' then raise 'no' using errcode = '22000'; end if; return new; end $$;
      create trigger refuse before insert on inbound_message for each row execute function refuse()`)
    const replies = ['a', 'poison', 'b'].map((text) => aReply({ text }))
    await expect(cuttable.ports.inbox.receive(replies, confirmation)).rejects.toThrow('no')
    expect(await inboxTexts(direct.ports, id)).toEqual(['a', 'b'])
    await client.query('drop trigger refuse on inbound_message')
    expect(await cuttable.ports.inbox.receive(replies, confirmation)).toEqual(['repeated', 'stored', 'repeated'])
    expect(await inboxTexts(direct.ports, id)).toEqual(['a', 'b', 'poison'])
    expect(await cuttable.ports.inbox.receive(replies, confirmation)).toEqual(['stored', 'stored', 'stored'])
  })
})

describe('with several processes', () => {
  let database: FreshDatabase
  let processes: readonly PostgresPorts[]
  const portsOf = (i: number): StoredPorts => {
    const { ports } = processes[i % processes.length] ?? {}
    if (ports === undefined) throw new Error('no process')
    return ports
  }
  beforeEach(async () => {
    database = await freshDatabase()
    const { connectionString } = database
    processes = [0, 1, 2].map(() => postgresPorts({ connectionString, settings: patientSettings }))
  })
  afterEach(async () => {
    await Promise.all(processes.map(({ close }) => close()))
    await database.drop()
  })

  test('that each get one part at the same moment, one completes the text', async () => {
    const { id } = await anAccount(portsOf(0))
    await sentTo(portsOf(0), id)
    const groups = Array.from({ length: 30 }, (_, group) => group)
    const part = (group: number, number: number) =>
      aReply({ text: `${group}:${number} `, part: { group, number, of: 3 } })
    const results = await Promise.all(
      [1, 2, 3].flatMap((number) =>
        groups.map((group) => portsOf(number).inbox.receive([part(group, number)], confirmation)),
      ),
    )
    expect(results.flat().filter((one) => one === 'stored')).toHaveLength(30)
    expect([...(await inboxTexts(portsOf(0), id))].sort()).toEqual(
      groups.map((group) => `${group}:1 ${group}:2 ${group}:3 `).sort(),
    )
  })

  test('the same batches, concurrently and in any order, are stored once, and each number gets one confirmation', async () => {
    const { id } = await anAccount(portsOf(0))
    const some = numbers(40)
    for (const number of some) await sentTo(portsOf(0), id, number)
    const replies = some.map((from) => aReply({ from, text: 'stop', reference: from }))
    const others = some.map((from) => aReply({ from, text: 'STOP', reference: `again ${from}` }))
    await Promise.all(
      [replies, others.toReversed(), replies.toReversed(), others, replies].map((batch, i) =>
        portsOf(i).inbox.receive(batch, confirmation),
      ),
    )
    expect(await inboxTexts(portsOf(0), id)).toHaveLength(80)
    const client = new Client({ connectionString: database.connectionString })
    await client.connect()
    const { rows } = await client.query('select msisdns[1]::text number from send where confirms_opt_out order by 1')
    await client.end()
    expect(rows).toEqual(some.map((number) => ({ number })))
  })

  test('that poll while replies arrive and connections are cut, each reply is handed out once', async () => {
    const { id } = await anAccount(portsOf(0))
    await sentTo(portsOf(0), id)
    const count = 1500
    const got: string[] = []
    const cutting = await cutConnections(database.connectionString)
    const insist = async <T>(call: () => Promise<T>): Promise<T> => {
      for (let attempts = 1; ; attempts++) {
        try {
          return await call()
        } catch (error) {
          if (attempts === 200) throw error
        }
      }
    }
    const arrive = async (from: number) => {
      for (let i = from; i < count; i += 90) {
        const replies = Array.from({ length: 30 }, (_, k) => aReply({ text: `r${i + k}` }))
        await insist(() => portsOf(from).inbox.receive(replies, confirmation))
      }
    }
    const poll = async (i: number) => {
      while (got.length < count) {
        const { inbox } = portsOf(i)
        const { taking, messages } = await insist(() => inbox.take(id, i % 2 === 0 ? 'all' : 'replies', longAgo, 20))
        // Every fourth answer is lost.
        if (testChance().happens(0.25)) await insist(() => inbox.offerAgain(id, taking))
        else got.push(...messages.map(({ text }) => text))
      }
    }
    await Promise.all([arrive(0), arrive(30), arrive(60), ...Array.from({ length: 9 }, (_, i) => poll(i))])
    const cuts = await cutting.stop()
    expect(cuts).toBeGreaterThan(3)
    expect([...got].sort()).toEqual(Array.from({ length: count }, (_, i) => `r${i}`).sort())
    expect((await portsOf(0).inbox.take(id, 'all', longAgo, 10)).messages).toEqual([])
    expect(await inboxTexts(portsOf(0), id)).toHaveLength(count)
  }, 120_000)
})

test('messages without an account are listed in pages, without a gap', async () => {
  const database = await freshDatabase()
  const { ports, close } = postgresPorts({ connectionString: database.connectionString, settings: patientSettings })
  const replies = Array.from({ length: 2500 }, (_, i) => aReply({ text: `u${i}`, to: i % 2 === 0 ? undefined : 'abc' }))
  await ports.inbox.receive(replies, confirmation)
  const texts: string[] = []
  for await (const { text, from } of ports.inbox.unowned()) {
    expect(from).toBe(aNumber())
    texts.push(text)
  }
  expect(texts).toEqual(replies.map(({ text }) => text))
  await close()
  await database.drop()
})
