import { createBackOffice } from '@gateway/core'
import type { Deletion } from '@gateway/core/messages'
import { scriptedCarrier } from '@gateway/core/testing'
import { startAsp, type Asp, type AspOptions } from '../../testing/start-asp.ts'
import { DELETION } from '@gateway/wire'

let asp: Asp
const start = async (options?: AspOptions) => {
  asp = await startAsp(options)
}
afterEach(() => asp.close())

const remove = async (ids: string) => (await asp.get('deletescheduled.asp', `messageid=${ids}`)).text
const send = (numbers: string, scheduled = '202701010000') =>
  asp.get('batchmessage.asp', `message=x&numbers=${numbers}&scheduled=${scheduled}`)
const balance = async () => (await asp.get('credits.asp')).text

/** Submits the due messages to a carrier that accepts them. */
async function claim() {
  const { claimedBatches } = asp.ports
  await claimedBatches.promote(100)
  const claim = { messagesMax: 10, markedMax: 10, leaseSeconds: 60 }
  await claimedBatches.claim(await claimedBatches.register(60), {
    carrier: scriptedCarrier().id,
    lane: 'single',
    ...claim,
  })
}

describe('the result of an id', () => {
  test('is DELETED for a due message until it is claimed, and SENT afterwards', async () => {
    await start()
    await send('27825550101;27825550102', '202610181001')
    asp.clock.step(60)
    expect(await remove('1;')).toBe('1=DELETED&')
    await claim()
    expect(await remove('1;2;')).toBe('1=NOTFOUND&2=SENT&')
    expect(await balance()).toBe('Credits=99')
  })

  test('is NOTFOUND if no message can have the id, which is echoed so that it cannot forge another result', async () => {
    await start()
    await send('27825550101')
    expect(await remove('W1;x;-1;1e0;1.0;0;9007199254740993;+1+;1%26x%3DDELETED')).toBe(
      'W1=NOTFOUND&x=NOTFOUND&-1=NOTFOUND&1e0=NOTFOUND&1.0=NOTFOUND&0=NOTFOUND&9007199254740993=NOTFOUND&' +
        '1=DELETED&1%26x%3DDELETED=NOTFOUND&',
    )
  })

  test('has a word for each outcome', () => {
    const words: Record<Deletion['outcome'], string> = { deleted: 'DELETED', sent: 'SENT', 'not-found': 'NOTFOUND' }
    expect(DELETION).toEqual(words)
  })
})

test('a locked account can delete messages and is refunded', async () => {
  await start()
  await send('27825550101')
  await createBackOffice(asp.ports).commands.lockAccount(asp.account.id)
  expect(await remove('1;')).toBe('1=DELETED&')
  expect(await balance()).toBe('Credits=100')
})

test.each([
  ['messageid=1;%00', 'No message ids supplied'],
  [`messageid=${'1;'.repeat(51)}&MessageID=${'1;'.repeat(50)}`, 'Too many message ids supplied'],
])('?%.20s is an error of the whole request, and nothing is deleted', async (query, error) => {
  await start()
  await send('27825550101')
  const answer = await asp.get('deletescheduled.asp', query)
  expect([answer.status, answer.text]).toEqual([200, `Error="${error}"`])
  expect(await balance()).toBe('Credits=99')
})

test('an internal failure is answered with 503 and not with NOTFOUND', async () => {
  await start({
    gateway: (gateway) => ({
      ...gateway,
      commands: { ...gateway.commands, deleteScheduled: () => Promise.reject(new Error('lost')) },
    }),
  })
  const answer = await asp.get('deletescheduled.asp', 'messageid=1;')
  expect([answer.status, answer.text]).toEqual([503, 'Error="Service unavailable"'])
})
