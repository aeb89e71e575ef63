import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import smpp, { type Session, type SmppPdu } from 'smpp'
import { openAccount, type NewAccount } from './support/accounts.ts'
import { freePorts } from './support/free-ports.ts'
import { startAllInOne, type RunningGateway } from './support/gateways.ts'
import { operateJson } from './support/operate.ts'
import { killLeftovers } from './support/process.ts'
import { addCredential, bindClient, receiptedId, type SmppLogin } from './support/smpp-customers.ts'

// Runs the SMPP clients of other projects against the gateway, unchanged.
const isInstalled = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0
const hasKannel = isInstalled('bearerbox') && isInstalled('smsbox')
const hasNetSmpp = spawnSync('perl', ['-MNet::SMPP', '-e', '1'], { stdio: 'ignore' }).status === 0
const hasSmpplib = spawnSync('python3', ['-c', 'import smpplib.client'], { stdio: 'ignore' }).status === 0
if (!hasKannel) process.stderr.write('NOTICE: Kannel is not tried here: bearerbox or smsbox is not installed\n')
if (!hasNetSmpp) process.stderr.write('NOTICE: Net::SMPP is not tried here: it is not installed\n')
if (!hasSmpplib) process.stderr.write('NOTICE: python-smpplib is not tried here: it is not installed\n')

let gateway: RunningGateway
let port: number
let account: NewAccount
let login: SmppLogin
let folder: string
const boxes: ChildProcess[] = []
const servers: Server[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-smpp-'))
  port = (await freePorts(1))[0] ?? 0
  gateway = await startAllInOne({ SMPP_PORT: String(port) })
  account = await openAccount(gateway.environment, 'reseller', 1000)
  login = await addCredential(gateway.environment, account.id, '--window', '50', '--per-second', '1000')
}, 180_000)
afterAll(async () => {
  for (const box of boxes.reverse()) await ended(box)
  for (const server of servers) server.close()
  await gateway.stop()
  killLeftovers()
  await rm(folder, { recursive: true, force: true })
}, 120_000)

const ended = (box: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    box.once('close', () => resolve())
    box.kill('SIGKILL')
    if (box.exitCode !== null || box.signalCode !== null) resolve()
  })

const statusOf = async (id: string): Promise<string> => {
  const response = await fetch(`${gateway.restUrl}/api/rest/v1/sms/outgoing/status`, {
    ...{ method: 'POST', body: `[${id}]` },
    headers: { Authorization: account.key, 'Content-Type': 'application/json' },
  })
  const { messageStatuses } = (await response.json()) as { messageStatuses: readonly { status: string }[] }
  return messageStatuses[0]?.status ?? ''
}

describe('the npm package smpp', () => {
  let session: Session
  const deliveries: SmppPdu[] = []
  const ask = (
    request: 'bind_transceiver' | 'submit_sm' | 'query_sm' | 'cancel_sm' | 'enquire_link' | 'unbind',
    fields: object,
  ): Promise<SmppPdu> => new Promise((resolve) => session[request](fields, resolve))

  beforeEach(async () => {
    deliveries.length = 0
    session = smpp.connect({ host: '127.0.0.1', port })
    session.on('deliver_sm', (pdu) => {
      deliveries.push(pdu)
      session.send(pdu.response())
    })
    const bound = await ask('bind_transceiver', { system_id: login.systemId, password: login.password })
    expect(bound.command_status).toBe(0)
  })
  afterEach(() => session.destroy())

  test('binds, submits, gets a receipt, queries and unbinds; the message is found by REST', async () => {
    const submitted = await ask('submit_sm', {
      ...{ destination_addr: '27825550101', short_message: 'hello', registered_delivery: 1 },
    })
    const id = submitted.message_id ?? ''
    expect(id).toMatch(/^[1-9]\d*$/)
    await until(() => deliveries.length === 1, 20_000)
    expect(deliveries).toMatchObject([{ esm_class: 4, receipted_message_id: id, message_state: 2 }])
    expect(deliveries[0]?.short_message?.message).toMatch(
      new RegExp(`^id:${id} sub:001 dlvrd:001 submit date:\\d{10} done date:\\d{10} stat:DELIVRD err:000 text:$`),
    )
    expect(await ask('query_sm', { message_id: id })).toMatchObject({ message_state: 2 })
    expect(await statusOf(id)).toBe('DELIVERED')
    expect((await ask('enquire_link', {})).command_status).toBe(0)
    expect((await ask('unbind', {})).command_status).toBe(0)
  })

  test('a flood that ignores the window is answered, in part RTHROTTLED, and each message with an id gets its receipt', async () => {
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, at) =>
        ask('submit_sm', {
          // The ending is one for which the simulated carrier delivers and no person replies.
          ...{ destination_addr: `2782${String(50_000 + at)}01`, short_message: 'flood', registered_delivery: 1 },
        }),
      ),
    )
    const accepted = answers.filter(({ command_status: status }) => status === 0)
    const others = answers.filter(({ command_status: status }) => status !== 0)
    expect(new Set(others.map(({ command_status: status }) => status))).toEqual(new Set([0x58]))
    expect(accepted.length).toBeGreaterThanOrEqual(50)
    await until(() => deliveries.length === accepted.length, 60_000)
    const ids = deliveries.map(({ receipted_message_id: id }) => id)
    expect(new Set(ids)).toEqual(new Set(accepted.map(({ message_id: id }) => id)))
  })
})

;(hasNetSmpp ? test : test.skip)(
  'Net::SMPP binds, submits and reads its receipt',
  async () => {
    const script = `
    use strict; use warnings; use Net::SMPP;
    my ($smpp, $bound) = Net::SMPP->new_transceiver('127.0.0.1', port => ${port}, system_id => '${login.systemId}',
      password => '${login.password}') or die "no bind: $!";
    die 'refused' if $bound->{status};
    my $resp = $smpp->submit_sm(destination_addr => '27825550107', short_message => 'from Perl',
      registered_delivery => 1) or die 'no response';
    print "$resp->{message_id}\\n";
    my $receipt = $smpp->read_pdu or die 'no receipt';
    $smpp->deliver_sm_resp(message_id => '', seq => $receipt->{seq});
    print "$receipt->{short_message}\\n";
    $smpp->unbind;
  `
    expect(await outputOf('perl', ['-e', script])).toMatch(idAndReceipt)
  },
  60_000,
)

;(hasSmpplib ? test : test.skip)(
  'python-smpplib binds, submits and reads its receipt',
  async () => {
    const script = `
import smpplib.client, smpplib.consts, smpplib.gsm
client = smpplib.client.Client('127.0.0.1', ${port}, allow_unknown_opt_params=True)
received = []
client.set_message_sent_handler(lambda pdu: print(pdu.message_id.decode(), flush=True))
client.set_message_received_handler(lambda pdu: received.append(pdu) and None)
client.connect()
client.bind_transceiver(system_id='${login.systemId}', password='${login.password}')
parts, coding, kind = smpplib.gsm.make_parts('from Python: £ € ñ')
client.send_message(source_addr_ton=smpplib.consts.SMPP_TON_INTL, source_addr='', dest_addr_ton=smpplib.consts.SMPP_TON_INTL,
  destination_addr='27825550109', short_message=parts[0], data_coding=coding, esm_class=kind, registered_delivery=True)
while not received:
  client.read_once()
print(received[0].short_message.decode())
client.unbind()
client.disconnect()
`
    expect(await outputOf('python3', ['-c', script])).toMatch(idAndReceipt)
  },
  60_000,
)

/** Output of a client that prints the id of its message and then the receipt. */
const idAndReceipt = /^(\d+)\nid:\1 sub:001 dlvrd:001 .* stat:DELIVRD err:000 text:\n$/

async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  await new Promise((resolve) => child.once('close', resolve))
  return output
}

/** Returns the number of submissions over the binds of a credential, as `gateway smpp binds` shows them. */
async function submissionsOf({ systemId }: SmppLogin): Promise<number> {
  type Bind = { readonly systemId: string; readonly submissions: number }
  const { rows } = await operateJson<{ rows: readonly Bind[] }>(['smpp', 'binds'], gateway.environment)
  return rows.filter((bind) => bind.systemId === systemId).reduce((sum, { submissions }) => sum + submissions, 0)
}

/** Receives the delivery reports that Kannel forwards to a URL. */
async function reportServer(): Promise<{ readonly port: number; readonly reports: string[] }> {
  const reports: string[] = []
  const server = createServer((request, response) => {
    reports.push(request.url ?? '')
    response.end('ok')
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, reports }
}

;(hasKannel ? test : test.skip)(
  'Kannel as a client sends a plain, a Unicode and a long text, and sees each delivered',
  async () => {
    const customer = await addCredential(gateway.environment, account.id)
    await operateJson(['sender', 'add', String(account.id), '27825550000'], gateway.environment)
    const [admin = 0, smsbox = 0, sending = 0] = await freePorts(3)
    const { port: reportPort, reports } = await reportServer()
    const file = join(folder, 'kannel.conf')
    await writeFile(
      file,
      [
        ...['group = core', `admin-port = ${admin}`, 'admin-password = word', `smsbox-port = ${smsbox}`],
        ...['store-type = file', `store-location = "${folder}/store"`, 'sms-resend-freq = 2', ''],
        ...['group = smsc', 'smsc = smpp', 'smsc-id = gateway', 'host = 127.0.0.1', `port = ${port}`],
        ...['transceiver-mode = true', `smsc-username = "${customer.systemId}"`],
        ...[`smsc-password = "${customer.password}"`, 'system-type = ""', 'reconnect-delay = 1', ''],
        ...['group = smsbox', 'bearerbox-host = 127.0.0.1', `sendsms-port = ${sending}`, ''],
        ...[
          'group = sendsms-user',
          'username = user',
          'password = word',
          'max-messages = 10',
          'concatenation = true',
          '',
        ],
      ].join('\n'),
    )
    let printed = ''
    for (const program of ['bearerbox', 'smsbox']) {
      const box = spawn(program, ['-v', '0', file], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
      boxes.push(box)
      for (const stream of [box.stdout, box.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
      const ready = program === 'bearerbox' ? 'MAIN: Start-up done' : 'Connected to bearerbox'
      await until(() => printed.includes(ready), 20_000)
    }
    const send = async (to: string, parameters: Readonly<Record<string, string>>) => {
      const report = `http://127.0.0.1:${reportPort}/?to=${to}&type=%d&reply=%A`
      const query = new URLSearchParams({
        ...{ username: 'user', password: 'word', from: '27825550000', to, 'dlr-mask': '31', 'dlr-url': report },
        ...parameters,
      })
      const response = await fetch(`http://127.0.0.1:${sending}/cgi-bin/sendsms?${query.toString()}`)
      expect([response.status, await response.text()]).toEqual([202, expect.any(String)])
    }
    await send('27825550111', { text: 'Hello from Kannel' })
    await send('27825550112', { text: 'Здравствуйте', charset: 'UTF-8', coding: '2' })
    await send('27825550113', { text: 'A long text, in parts. '.repeat(20) })
    // type=1 is a delivered message, type=8 one that the SMSC has accepted.
    const delivered = (to: string) => reports.filter((url) => url.includes(`to=${to}&type=1`)).length
    await until(() => delivered('27825550111') === 1 && delivered('27825550112') === 1, 30_000)
    await until(() => delivered('27825550113') >= 1, 30_000)
    // The figures of binds are reported once a second.
    await until(async () => (await submissionsOf(customer)) === 6, 20_000)
  },
  120_000,
)

test('a client with a window of 1 sends parts one after the other, and gets a receipt for every part', async () => {
  const client = await bindClient(port, login)
  const ids: string[] = []
  for (const part of [1, 2, 3]) {
    const text = Buffer.concat([Buffer.of(5, 0, 3, 99, 3, part), Buffer.from('x'.repeat(150))])
    const response = await client.submit('27825550121', text, { esmClass: 0x40 })
    if ('messageId' in response) ids.push(response.messageId)
  }
  await until(() => client.deliveries.length === 3, 20_000)
  expect(client.deliveries.map(({ shortMessage }) => receiptedId(shortMessage)).sort()).toEqual(ids.sort())
  expect(await statusOf(ids[2] ?? '')).toBe('DELIVERED')
  await client.unbind()
})

test('a reply reaches the customer over SMPP', async () => {
  const client = await bindClient(port, login)
  await client.submit('27825550188', 'Do you like it?')
  await until(() => client.deliveries.some(({ esmClass }) => esmClass === 0), 30_000)
  const reply = client.deliveries.find(({ esmClass }) => esmClass === 0)
  expect(reply).toMatchObject({ sourceAddr: '27825550188' })
  expect(reply?.shortMessage.toString()).toBe('Yes, thank you')
  await client.unbind()
})
