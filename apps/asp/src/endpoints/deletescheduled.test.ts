import { createBackOffice, createGateway } from '@gateway/core'
import { credits } from '@gateway/core/credits'
import type { Deletion } from '@gateway/core/messages'
import { secondsAfter } from '@gateway/core/time'
import { aNumber, anAccount, scriptedCarrier } from '@gateway/core/testing'
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

/** Hands what is due to a carrier that takes it. */
async function claim() {
  const { claimedBatches } = asp.ports
  await claimedBatches.promote(100)
  const wanted = { messagesMax: 10, markedMax: 10, leaseSeconds: 60 }
  await claimedBatches.claim(await claimedBatches.register(60), {
    carrier: scriptedCarrier().id,
    lane: 'single',
    ...wanted,
  })
}

describe('the result of an id', () => {
  test('is DELETED, SENT or NOTFOUND, in request order, each item ended with &', async () => {
    await start()
    await send('27825550101;27825550102')
    await send('27825550103', '')
    expect(await remove('99;2;3;')).toBe('99=NOTFOUND&2=DELETED&3=SENT&')
    expect(await balance()).toBe('Credits=98')
  })

  test('is DELETED once, in one call or in many at a time, and refunded once with what was charged', async () => {
    await start()
    await asp.ports.prices.set('44', credits(25))
    await send('447700900123;447700900124')
    await asp.ports.prices.set('44', credits(90))
    expect(await remove('1;1;01;')).toBe('1=DELETED&1=NOTFOUND&01=NOTFOUND&')
    expect(await asp.ports.ledger.balance(asp.account.id)).toBe(975)
    const answers = await Promise.all(Array.from({ length: 8 }, () => remove('2;')))
    expect(answers.sort()).toEqual(['2=DELETED&', ...Array<string>(7).fill('2=NOTFOUND&')])
    expect(await asp.ports.ledger.balance(asp.account.id)).toBe(1000)
  })

  test('is DELETED when the message is due, until it is claimed, and SENT from then on', async () => {
    await start()
    await send('27825550101;27825550102', '202610181001')
    asp.clock.step(60)
    expect(await remove('1;')).toBe('1=DELETED&')
    await claim()
    expect(await remove('1;2;')).toBe('1=NOTFOUND&2=SENT&')
    expect(await balance()).toBe('Credits=99')
  })

  test.each(['tomorrow', '202610180959', '202602301200'])('is SENT for a message whose time was %s', async (time) => {
    await start()
    await send('27825550101', time)
    expect(await remove('1;')).toBe('1=SENT&')
  })

  test("of another account is NOTFOUND, and that account's message stays", async () => {
    await start()
    const sub = await anAccount(asp.ports, { parent: asp.account.id })
    const scheduled = secondsAfter(asp.clock.now(), 60)
    await createGateway(asp.ports).sendMessages(sub, [{ text: 'x', recipients: ['27825550101'], scheduled }])
    expect(await remove('1;2;')).toBe('1=NOTFOUND&2=NOTFOUND&')
    expect(await asp.ports.ledger.balance(sub.id)).toBe(990)
  })

  test('that no message can have is NOTFOUND and echoed as given, so that it forges no other result', async () => {
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

test('a locked account deletes, and is refunded', async () => {
  await start()
  await send('27825550101')
  await createBackOffice(asp.ports).lockAccount(asp.account.id)
  expect(await remove('1;')).toBe('1=DELETED&')
  expect(await balance()).toBe('Credits=100')
})

test('a hundred ids are deleted, with a last ; too', async () => {
  await start()
  const hundred = Array.from({ length: 100 }, (_, i) => i)
  await send(hundred.map((i) => aNumber(`27825550${String(i).padStart(3, '0')}`)).join(';'))
  const all = hundred.map((i) => `${i + 1};`).join('')
  expect(await remove(all)).toBe(hundred.map((i) => `${i + 1}=DELETED&`).join(''))
  expect(await balance()).toBe('Credits=100')
})

test.each([
  ['', 'No message ids supplied'],
  ['messageid=;+;', 'No message ids supplied'],
  ['messageid=1;%00', 'No message ids supplied'],
  [`messageid=${'1;'.repeat(101)}`, 'Too many message ids supplied'],
  [`messageid=${'1;'.repeat(51)}&MessageID=${'1;'.repeat(50)}`, 'Too many message ids supplied'],
])('?%.20s is an error of the whole call, and nothing is deleted', async (query, error) => {
  await start()
  await send('27825550101')
  const answer = await asp.get('deletescheduled.asp', query)
  expect([answer.status, answer.text]).toEqual([200, `Error="${error}"`])
  expect(await balance()).toBe('Credits=99')
})

test('our own trouble is 503 and not NOTFOUND', async () => {
  await start({ gateway: (gateway) => ({ ...gateway, deleteScheduled: () => Promise.reject(new Error('lost')) }) })
  const answer = await asp.get('deletescheduled.asp', 'messageid=1;')
  expect([answer.status, answer.text]).toEqual([503, 'Error="Service unavailable"'])
})
