import { encodePdu, noTlvs, type Pdu } from '@gateway/smpp'
import { until } from '@gateway/core/testing'
import fc from 'fast-check'
import { bindPdu, bound, connected, submitSm } from '../testing/esme.ts'
import { startSmsc } from './start-smsc.ts'

const message = submitSm('27825550101', 2)
const source = { sourceAddrTon: 1, sourceAddrNpi: 1, sourceAddr: '12025550100' }
const destination = { destAddrTon: 1, destAddrNpi: 1, destinationAddr: '27825550190' }
const identified = { status: 0, sequence: 3, messageId: '1', tlvs: noTlvs }
const times = { scheduleDeliveryTime: '', validityPeriod: '' }

/** Valid PDUs that clients send. */
const requests: readonly Pdu[] = [
  bindPdu('bind_transceiver', 'me', 'secret'),
  message,
  { ...message, command: 'submit_multi', destinations: [destination, { distributionList: 'list' }] },
  { ...message, command: 'data_sm' },
  { ...message, ...identified, command: 'deliver_sm_resp' },
  { ...identified, ...source, command: 'query_sm' },
  { ...identified, ...source, ...destination, command: 'cancel_sm', serviceType: '' },
  { ...identified, ...source, ...times, command: 'replace_sm', registeredDelivery: 1, smDefaultMsgId: 0, shortMessage: Buffer.from('hi') },
  { command: 'unbind', status: 0, sequence: 4, tlvs: noTlvs },
] // prettier-ignore

test('no octets of one client affect the links of others or stop the server', async () => {
  const smsc = await startSmsc({ changes: { receiptDelay: 0 }, retryMilliseconds: 20 })
  const other = await bound(smsc.port)
  const octet = fc.nat(255)
  const changed = fc.tuple(fc.constantFrom(...requests), fc.array(fc.tuple(fc.nat(), octet), { maxLength: 3 }))
  const mutated = changed.map(([pdu, changes]) => {
    const bytes = Buffer.from(encodePdu(pdu))
    for (const [at, value] of changes) bytes[at % bytes.length] = value
    return bytes
  })
  const raw = fc.uint8Array({ maxLength: 60 }).map((some) => Buffer.from(some))
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof({ weight: 5, arbitrary: mutated }, raw), { maxLength: 12 }), async (sent) => {
        const hostile = await connected(smsc.port)
        const [bind] = requests
        if (bind !== undefined) hostile.write(encodePdu(bind))
        hostile.write(Buffer.concat(sent))
        hostile.end()
        await until(() => hostile.isClosed)
      }),
      { numRuns: 100 },
    )
    other.submit('27825550102')
    await until(() => other.responses().length === 1)
    expect(other.responses()[0]?.status).toBe(0)
    expect(other.isClosed).toBe(false)
  } finally {
    other.close()
    await smsc.close()
  }
})
