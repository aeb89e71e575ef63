import { instant } from '@gateway/core/time'
import { aMessageId, anAccountId } from '@gateway/core/testing'
import type { Connections } from '../connections.ts'
import { statuses } from './statuses.ts'

/**
 * Rows that the statements return, by name of the statement. There is one send from id 1 on; message 2 is delivered and
 * message 3 waits.
 */
const rows: Readonly<Record<string, object>> = {
  'find-outcomes': {
    ids: '{2}',
    codes: '{0}',
    unreferenced: null,
    refunded: null,
    times: Buffer.alloc(8),
    numbers: '{27825550102}',
    sends: '{1}',
  },
  'covering-sends': { ids: '{1,3}', places: '{0,2}', dues: '{0,0}', prices: '{10,10}', referenced: null },
  'numbers-in-sends': { ids: '{3}', numbers: '{27825550103}' },
}

async function run(ids: readonly number[]) {
  const ran: string[] = []
  const hot = {
    run: ({ name }: { name: string }) => {
      ran.push(name)
      return Promise.resolve([{ ...rows[name] }])
    },
  } as unknown as Connections
  const found = await statuses(hot, anAccountId(1), ids.map(aMessageId), instant(0))
  return { ran, found }
}

test('the numbers of a send are read only if a requested message waits', async () => {
  expect(await run([2])).toMatchObject({
    ran: ['find-outcomes', 'covering-sends'],
    found: [{ code: 0, number: '27825550102', cost: 10 }],
  })
  expect(await run([2, 3])).toMatchObject({
    ran: ['find-outcomes', 'covering-sends', 'numbers-in-sends'],
    found: [{ code: 0 }, { code: 'waiting', number: '27825550103' }],
  })
})
