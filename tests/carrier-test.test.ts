import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { operate } from './support/operate.ts'
import { databaseFolder, killLeftovers, type DataFolder } from './support/process.ts'
import { smscPassword, startSmscProcess, type RunningSmsc } from './support/smsc.ts'

let data: DataFolder
beforeEach(async () => (data = await databaseFolder()))
afterEach(async () => {
  killLeftovers()
  await data.remove()
})

async function anSmsc(...settings: readonly string[]): Promise<RunningSmsc> {
  const folder = join(data.path, 'smsc')
  await mkdir(folder)
  return startSmscProcess(folder, settings)
}

interface Tried {
  readonly problem: string | null
  readonly parts: readonly {
    readonly answer: string
    readonly carrierId: string | null
    readonly receipt: string | null
  }[]
  readonly pdus: readonly {
    readonly direction: string
    readonly fields: Readonly<Record<string, unknown>> & { readonly command: string }
  }[]
}

const environmentOf = (carriers: string) => ({ DATA_DIR: data.path, CARRIERS: carriers })

async function tried(args: readonly string[], carriers: string) {
  const { code, out, err } = await operate(['carrier', 'test', ...args, '--json'], environmentOf(carriers))
  expect(out + err).not.toContain(smscPassword)
  return { code, err, result: (out === '' ? undefined : JSON.parse(out)) as Tried | undefined }
}

test('carrier test shows every PDU of a message and its receipt, and who gives a person the same', async () => {
  const smsc = await anSmsc('receiptDelay=50')
  const carriers = `mtn=${smsc.url}`
  const { code, result } = await tried(['mtn', '--to', '27825550101', '--from', '12025550100'], carriers)
  expect([code, result?.problem]).toEqual([0, null])
  expect(result?.parts).toEqual([
    {
      answer: 'ESME_ROK',
      carrierId: expect.any(String) as string,
      receipt: 'DELIVERED 0 (delivered to the recipient)',
    },
  ])
  expect(result?.pdus.map(({ direction, fields }) => `${direction} ${fields.command}`)).toEqual([
    ...['sent bind_transceiver', 'received bind_transceiver_resp', 'sent submit_sm', 'received submit_sm_resp'],
    ...['received deliver_sm', 'sent deliver_sm_resp', 'sent unbind', 'received unbind_resp'],
  ])
  expect(result?.pdus[0]?.fields).toMatchObject({ systemId: 'gateway', password: '***' })
  expect(result?.pdus[2]?.fields).toMatchObject({
    ...{ sourceAddr: '12025550100', destinationAddr: '27825550101', registeredDelivery: 1 },
    shortMessage: Buffer.from('Test').toString('hex'),
  })
  const { code: done, out } = await operate(['carrier', 'test', 'mtn', '--to', '27825550101'], environmentOf(carriers))
  expect(done).toBe(0)
  expect(out).toContain('-> submit_sm 2')
  expect(out).toContain('    shortMessage 54657374 "Test"')
  expect(out).toContain('Part 1 of 1: ESME_ROK, id ')
  expect(out).not.toContain(smscPassword)
}, 120_000)

test('carrier test waits for the receipts of all parts, over a pair, also if they come before the answers', async () => {
  const smsc = await anSmsc('receiptDelay=20')
  const text = ['--text', 'x'.repeat(400)]
  const { code, result } = await tried(['a', '--to', '27825550197', ...text], `a=${smsc.url}?bind=pair`)
  expect(code).toBe(0)
  expect(result?.parts.map(({ receipt }) => receipt)).toEqual(Array(3).fill('DELIVERED 0 (delivered to the recipient)'))
}, 120_000)

test('deliveries for other messages are refused temporarily, so that a dispatcher receives them', async () => {
  const smsc = await anSmsc('receiptDelay=20')
  const carriers = `a=${smsc.url}`
  // Messages to this number are answered by a reply after the receipt. The reply arrives when no bind is open any more.
  expect((await tried(['a', '--to', '27825550188'], carriers)).code).toBe(0)
  const { code, result } = await tried(['a', '--to', '27825550194', '--wait', '5'], carriers)
  expect(code).toBe(0)
  const all = (result?.pdus ?? []).map(({ fields }) => fields)
  const replies = all.filter(
    ({ command, shortMessage }) =>
      command === 'deliver_sm' && String(Buffer.from(String(shortMessage), 'hex')).includes('Yes'),
  )
  expect(replies.length).toBeGreaterThan(0)
  for (const { sequence } of replies) {
    const answer = all.find((pdu) => pdu.command === 'deliver_sm_resp' && pdu['sequence'] === sequence)
    expect(answer).toMatchObject({ status: 'ESME_RX_T_APPN' })
  }
}, 120_000)

test.each([
  ['a refused number', '27825550193', '', /did not accept the message: ESME_RINVDSTADR/, 1],
  ['an answer that does not come', '27825550195', '?responseSeconds=1', /did not accept the message: no answer/, 1],
])(
  'carrier test of %s exits with 1, and shows its PDUs',
  async (_, to, query, words, code) => {
    const smsc = await anSmsc()
    const { code: ended, err, result } = await tried(['a', '--to', to], `a=${smsc.url}${query}`)
    expect([ended, result?.pdus.some(({ fields }) => fields.command === 'submit_sm')]).toEqual([code, true])
    expect(err).toMatch(words)
  },
  120_000,
)

test('carrier test refuses impossible requests: a wrong password, another name, a simulated carrier, no free bind', async () => {
  const smsc = await anSmsc('receiptDelay=20')
  const wrong = await tried(['a', '--to', '27825550101'], `a=${smsc.url.replace(smscPassword, 'wrong')}`)
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('the bind was refused: ESME_RINVPASWD')])
  const other = await tried(['b', '--to', '27825550101'], `a=${smsc.url},c=simulator:`)
  expect([other.code, other.err]).toEqual([
    1,
    expect.stringContaining('CARRIERS has no carrier b. Its carriers: a, c.'),
  ])
  const simulated = await tried(['c', '--to', '27825550101'], `a=${smsc.url},c=simulator:`)
  expect([simulated.code, simulated.err]).toEqual([1, expect.stringContaining('is simulated and has no PDUs')])
  const shared = `a=${smsc.url}?bindsMax=1`
  const waiting = ['a', '--to', '27825550194', '--wait', '30']
  const first = tried(['a', '--to', '27825550101'], shared)
  expect((await first).code).toBe(0)
  const results = await Promise.all([
    tried([...waiting.slice(0, 4), '5'], shared),
    tried([...waiting.slice(0, 4), '5'], shared),
  ])
  expect(results.map(({ code }) => code).toSorted()).toEqual([0, 1])
  expect(results.map(({ err }) => err).join('')).toContain('The only bind of a is in use.')
}, 180_000)
