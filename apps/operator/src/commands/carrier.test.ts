import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withoutSomeDigits } from '@gateway/core/audit'
import type { CarrierMode, CarrierStatus } from '@gateway/core/dispatch'
import { aCarrierId, anAccount, aNumber, steppingClock, until, reportCarriers } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'
import { pduText } from './carrier-pdu.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carriers-'))
  file = join(folder, 'carriers.json')
})
afterEach(() => rm(folder, { recursive: true }))

const carrier = { name: 'mtn', host: 'smsc.example', systemId: 'me', password: { environment: 'MTN' } }

test('carrier check accepts what a server would accept, with the secrets of the environment, and prints the names', async () => {
  const routes = [{ name: 'all', carriers: [{ carrier: 'mtn' }] }]
  await writeFile(file, JSON.stringify({ carriers: [carrier], routes }))
  const operator = anOperator({ variables: { MTN: 'hidden' } })
  expect(await operator.row('carrier', 'check', file)).toEqual({
    carriers: [{ carrier: 'mtn' }],
    routes: [{ name: 'all' }],
  })
  expect(await operator.run(['carrier', 'check', file])).toEqual({
    ...{ code: 0, err: '' },
    out: 'Accepted: the carriers mtn and the routes all.\n',
  })
})

test('carrier check refuses invalid files, names the place, and shows no password', async () => {
  const operator = anOperator({ variables: { MTN: 'hidden-and-too-long'.repeat(4) } })
  await writeFile(file, JSON.stringify({ carriers: [carrier] }))
  const { code, out, err } = await operator.run(['carrier', 'check', file, '--json'])
  expect([code, out]).toEqual([1, ''])
  const { error } = JSON.parse(err) as { error: string }
  expect(error).toContain('/carriers/0 (mtn): ')
  expect(error).toContain('the password has more than 64 characters')
  expect(error).not.toContain('hidden')
  expect(await operator.run(['carrier', 'check', join(folder, 'none')])).toMatchObject({
    code: 1,
    err: expect.stringContaining('it cannot be read: ENOENT') as string,
  })
})

const status: CarrierStatus = {
  window: 100,
  links: [
    { role: 'transceiver', boundSince: Date.parse('2026-10-18T07:00:00Z'), inUse: 3 },
    { role: 'transceiver', boundSince: undefined, inUse: 0 },
  ],
  perSecond: 12.5,
  isThrottled: true,
  waiting: 4,
  lastError: 'ESME_RTHROTTLED',
  receipts: { received: 7, missed: 2, form: 'hex' },
  unreadable: 1,
  circuit: {
    ...{ state: 'closed', since: Date.parse('2026-10-18T07:00:00Z'), reason: undefined, answerMilliseconds: 40 },
    ...{ silentSeconds: 5, slowSeconds: 7.5, failuresPercent: 50, probeSeconds: 3, probeSecondsMax: 50 },
  },
}
const silent: CarrierStatus = {
  ...status,
  circuit: status.circuit && { ...status.circuit, state: 'open', reason: 'silent', answerMilliseconds: undefined },
}
const process = { id: '1', host: 'alpha', pid: 11 }

async function aGatewayWithCarriers() {
  const clock = steppingClock()
  const operator = anOperator({ clock })
  const mtn = { carrier: aCarrierId('mtn'), mode: 'running', window: 100, unanswered: 3, status } as const
  const test = { carrier: aCarrierId('test'), mode: 'running', window: 5, unanswered: 0, status: undefined } as const
  await reportCarriers(operator.ports, process, [mtn, test])
  return { operator, clock }
}

const mtnJson = {
  mode: 'running',
  ...{ carrier: 'mtn', window: 100, unanswered: 3, boundSince: '2026-10-18T07:00:00.000Z', perSecond: 12.5 },
  ...{ throttled: true, waiting: 4, lastError: 'ESME_RTHROTTLED', stale: false },
  links: [
    { role: 'transceiver', boundSince: '2026-10-18T07:00:00.000Z', inUse: 3 },
    { role: 'transceiver', boundSince: null, inUse: 0 },
  ],
  receipts: { received: 7, missed: 2, unreadable: 1, idForm: 'hex' },
  overflowed: 0,
  circuit: {
    ...{ state: 'closed', since: '2026-10-18T07:00:00.000Z', reason: null, answerMilliseconds: 40 },
    ...{ silentSeconds: 5, slowMilliseconds: 7500, failuresPercent: 50, probeSeconds: 3, probeSecondsMax: 50 },
  },
  host: 'alpha',
  pid: 11,
}

test('carrier list has a row for each carrier of each dispatcher', async () => {
  const { operator } = await aGatewayWithCarriers()
  const [mtn, other] = await operator.rows<Record<string, unknown>>('carrier', 'list')
  expect(mtn).toEqual({ ...mtnJson, toldAt: expect.any(String) as string })
  expect(other).toMatchObject({
    carrier: 'test',
    window: 5,
    links: null,
    boundSince: null,
    receipts: null,
    stale: false,
  })
  const { out } = await operator.run(['carrier', 'list'])
  const lines = out.split('\n').map((line) => line.split(/ {2,}/))
  expect(lines[1]).toEqual([
    ...['mtn', 'alpha:11', 'bound 1 of 2, throttled', '2026/10/18 09:00:00', '3 of 100', '12.5', '4', '7', '2'],
    'ESME_RTHROTTLED',
  ])
  expect(lines[2]).toEqual(['test', 'alpha:11', 'up', '0 of 5'])
})

test('carrier show prints all that is known, and that a dispatcher has stopped reporting', async () => {
  const { operator, clock } = await aGatewayWithCarriers()
  expect(await operator.row('carrier', 'show', 'mtn')).toMatchObject(mtnJson)
  clock.step(61)
  const { out } = await operator.run(['carrier', 'show', 'mtn'])
  expect(out).toContain('state        stale')
  expect(out).toContain('form of ids  hex')
  expect(out).toContain('receipts     7 received, 2 missed, 1 unreadable')
  expect(out).toContain('  transceiver  not bound')
  expect(await operator.run(['carrier', 'show', 'none'])).toEqual({
    ...{ code: 1, out: '' },
    err: 'No dispatcher reports a carrier none.\n',
  })
})

test('carrier show prints the state of the circuit and the reason for which it opens', async () => {
  const operator = anOperator()
  const mtn = { carrier: aCarrierId('mtn'), mode: 'running', window: 100, unanswered: 3, status } as const
  await reportCarriers(operator.ports, process, [mtn])
  const { out } = await operator.run(['carrier', 'show', 'mtn'])
  expect(out).toContain('circuit      closed since 2026/10/18 09:00:00; answers take 40 ms\n')
  expect(out).toContain(
    'bounds       opened after 5 s of silence or 50 % failures; slow from 7.5 s on; probed after 3 s to 50 s\n',
  )
  await reportCarriers(operator.ports, process, [{ ...mtn, status: silent }])
  expect((await operator.run(['carrier', 'show', 'mtn'])).out).toContain(
    'circuit      open since 2026/10/18 09:00:00: the carrier did not answer; no answer yet\n',
  )
  expect((await operator.run(['carrier', 'list'])).out).toContain('bound 1 of 2, circuit open')
})

test('carrier list of a gateway without a dispatcher is empty, with a remark', async () => {
  expect(await anOperator().run(['carrier', 'list'])).toMatchObject({
    code: 0,
    err: expect.stringContaining('No dispatcher reports a carrier') as string,
  })
})

test('carrier receipts lists unreadable receipts completely, of one carrier or of all', async () => {
  const operator = anOperator()
  const receipt = { reference: undefined, number: aNumber(), text: 'msg 7 lost', pdu: '00ff', isMessage: false }
  const mtn = { ...receipt, carrier: aCarrierId('mtn'), reference: '7' }
  await operator.ports.deliveryReceipts.storeUnread([
    mtn,
    { ...receipt, carrier: aCarrierId('test'), number: undefined, isMessage: true },
  ])
  expect(await operator.rows('carrier', 'receipts', '--unread')).toEqual([
    {
      ...{ time: '2026-10-18T08:00:00.000Z', carrier: 'mtn', kind: 'receipt', number: '27820000000', carrierId: '7' },
      ...{ text: 'msg 7 lost', pdu: '00ff' },
    },
    expect.objectContaining({ carrier: 'test', kind: 'binary', number: null, carrierId: null }),
  ])
  expect(await operator.rows('carrier', 'receipts', 'test', '--unread')).toHaveLength(1)
  const { out } = await operator.run(['carrier', 'receipts', 'mtn', '--unread'])
  expect(out).toContain('2026/10/18 10:00:00  mtn      receipt  27820000000  7           msg 7 lost\n')
  expect((await operator.run(['carrier', 'receipts'])).code).toBe(2)
})

test('carrier receipts lists unmatched receipts with messages that wait for the same number', async () => {
  const operator = anOperator()
  const account = await anAccount(operator.ports, { credits: 10 })
  await operator.run(['send', '--account', String(account.id), '--to', '27825550101', '--text', 'Hello'])
  const receipt = { carrier: aCarrierId('mtn'), code: 0, number: aNumber('27825550101'), submitted: undefined } as const
  await operator.ports.deliveryReceipts.apply([{ ...receipt, reference: '7' }])
  expect(await operator.rows('carrier', 'receipts', '--unmatched')).toEqual([
    expect.objectContaining({
      carrier: 'mtn',
      number: '27825550101',
      carrierId: '7',
      statusCode: 0,
      waitingMessages: [1],
    }),
  ])
  expect(await operator.rows('carrier', 'receipts', 'test', '--unmatched')).toEqual([])
  expect((await operator.run(['carrier', 'receipts', '--unmatched', '--unread'])).code).toBe(2)
})

test('a carrier is paused, drained and resumed by name, which list and show print', async () => {
  const { operator } = await aGatewayWithCarriers()
  const { fleet } = operator.ports
  const paused = async () => (await fleet.state()).paused
  const tell = (mode: CarrierMode, links = status.links ?? []) =>
    reportCarriers(operator.ports, process, [
      {
        carrier: aCarrierId('mtn'),
        mode,
        window: 100,
        unanswered: 0,
        status: { ...status, isThrottled: false, links },
      },
    ])
  fleet.onChange(() => void paused().then(([first]) => tell(first?.mode ?? 'running')))
  const by = expect.stringMatching(/ on /) as string
  expect(await operator.json('carrier', 'pause', 'mtn')).toEqual({
    ...{ carrier: 'mtn', mode: 'paused', changed: true, dispatchers: 1, following: 1 },
  })
  expect(await paused()).toMatchObject([{ carrier: 'mtn', mode: 'paused', by }])
  expect(await operator.json('carrier', 'pause', 'mtn')).toMatchObject({ changed: false })
  const list = await operator.run(['carrier', 'list'])
  expect(list.out).toContain('  bound 1 of 2, paused  ')
  expect(list.err).toMatch(/^mtn is paused since 2026\/10\/18 10:00:00 by .+ on .+\.\n$/)
  expect((await operator.run(['carrier', 'show', 'mtn'])).out).toMatch(
    /\npaused {7}paused since 2026\/10\/18 10:00:00 by /,
  )
  expect((await operator.run(['carrier', 'drain', 'mtn'])).out).toBe(
    'The carrier mtn gets no more messages; its connections end when all answers have arrived. ' +
      '1 of 1 dispatchers have applied it.\n',
  )
  expect((await operator.run(['carrier', 'list'])).out).toContain('  bound 1 of 2, draining  ')
  await tell('drained', [])
  expect((await operator.run(['carrier', 'list'])).out).toContain('  drained  ')
  expect(await operator.json('carrier', 'resume', 'mtn')).toMatchObject({ mode: 'running', changed: true })
  expect(await paused()).toEqual([])
  expect(await operator.run(['carrier', 'pause', 'mtm'])).toMatchObject({
    code: 1,
    err: 'There is no carrier mtm. The carriers are mtn.\n',
  })
})

test('carrier show ends with the outcomes of messages by prefix', async () => {
  const { operator } = await aGatewayWithCarriers()
  const none = { delivered: 0, failed: 0, unknown: 0, refused: 0 }
  const counts = [
    { prefix: '27', delivered: 812, failed: 40, unknown: 3, refused: 2 },
    { ...none, prefix: '', delivered: 1 },
  ]
  await operator.ports.fleet.beat({
    ...{ user: { process, version: 0, simulated: undefined }, seconds: 60, reports: undefined },
    counts: [{ carrier: aCarrierId('mtn'), counts }],
  })
  const { figures } = await operator.json<{ figures: readonly object[] }>('carrier', 'show', 'mtn')
  const sums = { delivered: 812, failed: 40, unknown: 3, refused: 2 }
  expect(figures).toEqual([
    { prefix: '', hour: { ...none, delivered: 1 }, day: { ...none, delivered: 1 } },
    { prefix: '27', hour: sums, day: sums },
  ])
  const { out } = await operator.run(['carrier', 'show', 'mtn'])
  expect(out.split('\n').map((line) => line.split(/ {2,}/))).toContainEqual([
    '27',
    '812 / 812',
    '40 / 40',
    '3 / 3',
    '2 / 2',
  ])
  expect(out).toContain('\nnone              1 / 1 ')
})

test('carrier watch shows PDUs as they arrive, for people and for programs, and ends its watch', async () => {
  const { operator } = await aGatewayWithCarriers()
  const { fleet } = operator.ports
  const watches = async () => (await fleet.state()).watches
  const fields = { command: 'submit_sm', sequence: 7, destinationAddr: '27825550101', shortMessage: '5 octets\u001b' }
  const tell = async (): Promise<readonly unknown[]> => {
    const watch = await until(async () => (await watches())[0])
    const pdu = { watch: watch.id, host: 'alpha', pid: 11, at: Date.parse('2026-10-18T07:00:00Z') }
    await fleet.reportTraffic([{ ...pdu, direction: 'sent', role: 'transceiver', fields, leftOut: 0 }])
    await fleet.reportTraffic([
      {
        ...pdu,
        direction: 'received',
        role: 'transceiver',
        fields: { command: 'submit_sm_resp', sequence: 7 },
        leftOut: 3,
      },
    ])
    return [watch.carrier, watch.number, watch.hasText]
  }
  const args = ['carrier', 'watch', 'mtn', '--seconds', '1']
  const [{ out, err, code }, watch] = await Promise.all([operator.run([...args, '--to', aNumber()]), tell()])
  expect(watch).toEqual(['mtn', aNumber(), false])
  expect(out.split('\n').slice(0, 4)).toEqual([
    '07:00:00.000 alpha:11 -> submit_sm 7',
    '    destinationAddr "27825550101"',
    expect.stringContaining('    shortMessage ') as string,
    '07:00:00.000 alpha:11 <- submit_sm_resp 7 ESME_ROK',
  ])
  expect([out.includes('\u001b'), code, err]).toEqual([
    false,
    0,
    '3 more requests and responses were not shown, because there were too many.\n',
  ])
  expect(await watches()).toEqual([])

  const [document] = await Promise.all([operator.json<object>(...args, '--text'), tell()])
  expect(document).toMatchObject({
    rows: [{ host: 'alpha', pid: 11, direction: 'sent', role: 'transceiver', fields }, { direction: 'received' }],
    ...{ total: 2, leftOut: 3 },
  })
  const looks = (await operator.ports.auditLog.list({ action: 'watchCarrier' }, 10)).map(
    ({ begun, ended }) => [JSON.parse(begun.record), JSON.parse(ended?.record ?? '{}')] as unknown[],
  )
  expect(looks).toMatchObject([
    [{ given: { carrier: 'mtn', withText: true, seconds: 1 } }, { outcome: 'done' }],
    [{ given: { carrier: 'mtn', number: withoutSomeDigits(aNumber()), withText: false } }, { outcome: 'done' }],
  ])
  expect(await operator.run(['carrier', 'watch', 'test'])).toMatchObject({
    ...{ code: 1, out: '', err: 'No running process has a connection to test.\n' },
  })
})

test('carrier watch shows HTTP requests and responses, with the beginning of each response', () => {
  const request = { command: 'POST', sequence: 3, url: 'https://example.com/sms', body: 'To=%2B27825550101' }
  expect(pduText('07:00:00.000 alpha:11', 'sent', request).split('\n')).toEqual([
    '07:00:00.000 alpha:11 -> POST 3',
    '    url "https://example.com/sms"',
    '    body "To=%2B27825550101"',
  ])
  const response = { command: 'HTTP 201', sequence: 3, headers: { date: 'today' }, body: '{"sid":"x"}' }
  expect(pduText('07:00:00.100 alpha:11', 'received', response).split('\n')).toEqual([
    '07:00:00.100 alpha:11 <- HTTP 201 3',
    '    headers {"date":"today"}',
    '    body "{\\"sid\\":\\"x\\"}"',
  ])
})

test('a carrier that keeps no connections is up, shows its facts, and why its circuit is open', async () => {
  const { operator } = await aGatewayWithCarriers()
  const { links: _, ...rest } = silent
  const circuit = rest.circuit && {
    ...rest.circuit,
    reason: 'account-broken' as const,
    detail: 'status 402: no credit',
  }
  const twilio = { ...rest, circuit, isThrottled: false, facts: [['provider', 'twilio']] as const }
  const report = { carrier: aCarrierId('twilio'), mode: 'running', window: 50, unanswered: 1, status: twilio } as const
  await reportCarriers(operator.ports, process, [report])
  const { out } = await operator.run(['carrier', 'show', 'twilio'])
  expect(out).toContain('state        up, circuit open')
  expect(out).toContain('the carrier refuses every message because of our account there (status 402: no credit)')
  expect(out).toMatch(/^provider {5}twilio$/m)
  expect(out).not.toMatch(/form of ids|^links/m)
  const rows = await operator.rows<Record<string, unknown>>('carrier', 'list')
  const json = rows.find((row) => row['carrier'] === 'twilio')
  expect(json).toMatchObject({
    links: null,
    facts: [{ name: 'provider', text: 'twilio' }],
    circuit: { reason: 'account-broken', explanation: 'status 402: no credit' },
  })
})
