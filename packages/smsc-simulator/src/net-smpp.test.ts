import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { smppCarrierFromUrl } from '@gateway/adapters-smpp'
import type { Carrier, DeliveryReceipt, SubmissionAnswer } from '@gateway/core/dispatch'
import { aBody, aMessageId, aNumber, aSender, until } from '@gateway/core/testing'

// The gateway's carrier against an SMSC of Perl's Net::SMPP (Debian's libnet-smpp-perl).
const isInstalled = spawnSync('perl', ['-MNet::SMPP', '-MJSON::PP', '-e', '1'], { stdio: 'ignore' }).status === 0
if (!isInstalled) process.stderr.write("NOTICE: Net::SMPP is not tried here: Perl's module is not installed\n")
const testWithPerl = isInstalled ? test : test.skip

let smsc: ChildProcess | undefined
let carrier: Carrier | undefined
afterEach(async () => {
  await carrier?.close(new Promise((resolve) => setTimeout(resolve, 5000).unref()))
  smsc?.kill('SIGKILL')
})

testWithPerl(
  'Net::SMPP reads senders of each kind with the TON and NPI of 3GPP, and its receipts are read',
  async () => {
    const script = fileURLToPath(new URL('../testing/net-smpp-smsc.pl', import.meta.url))
    smsc = spawn('perl', [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const lines: string[] = []
    if (smsc.stdout) createInterface({ input: smsc.stdout }).on('line', (line) => lines.push(line))
    const port = await until(() => lines[0])
    const receipts: DeliveryReceipt[] = []
    carrier = smppCarrierFromUrl(`smpp://us:secret@127.0.0.1:${port}?queryUnknownSeconds=1`, {
      id: 'perl',
      report: () => undefined,
    })
    let request = 0
    carrier.listen({
      receipts: (some) => Promise.resolve((receipts.push(...some), [])),
      inboundMessages: () => Promise.resolve(),
      unknownMessages: {
        keep: () => Promise.resolve(),
        take: () =>
          Promise.resolve(
            request++ === 0
              ? [{ reference: 'perl-9', number: aNumber('27825550101'), from: aSender('Acme & Sons') }]
              : [],
          ),
      },
    })
    const answers: SubmissionAnswer[] = []
    const senders = ['Acme & Sons', '24x7', '31022', '27825550100'].map(aSender)
    const to = aNumber('27825550101')
    carrier.submit(
      senders.map((from, at) => ({ id: aMessageId(at + 1), from, to, body: aBody('Hi'), validSeconds: 90.5 })),
      (some) => void answers.push(...some),
    )
    await until(() => receipts.length === 5)
    const read = lines.slice(1).map((line) => JSON.parse(line) as Record<string, string>)
    const sourceOf = (one: Record<string, string>) => [
      one['source_addr'],
      one['source_addr_ton'],
      one['source_addr_npi'],
    ]
    expect(read.filter((one) => one['short_message'] !== undefined).map(sourceOf)).toEqual([
      ['Acme & Sons', '5', '0'],
      ['24x7', '5', '0'],
      ['31022', '3', '0'],
      ['27825550100', '1', '1'],
    ])
    expect(read[0]).toMatchObject({ dest_addr_ton: '1', dest_addr_npi: '1', destination_addr: to, short_message: 'Hi' })
    expect(read.find((one) => one['message_id'] === 'perl-9')).toMatchObject({ source_addr: 'Acme & Sons' })
    expect(answers.map((one) => ('reference' in one ? one.reference : one.outcome))).toEqual(
      senders.map((_, at) => `perl-${at + 1}`),
    )
    expect(receipts.map(({ reference, code }) => [reference, code]).toSorted()).toEqual(
      [1, 2, 3, 4, 9].map((id) => [`perl-${id}`, 0]),
    )
  },
)
