import { carrierContract } from '@gateway/core/contracts'
import { aDelivery, anSmsc, endAll, smscs } from '../testing/an-smsc.ts'
import { noTlvs, type DeliverSm } from '@gateway/smpp'
import { smppDefaults } from './settings.ts'
import { smppCarrier } from './smpp-carrier.ts'

afterEach(endAll)

/** Accepts every message, and sends its receipt a moment later, repeatedly until it is acknowledged. */
async function deliveringSmsc() {
  const smsc = await anSmsc((pdu, { send, socket }, nth) => {
    const receipt: DeliverSm = {
      ...aDelivery,
      ...{ sequence: nth, esmClass: 4, sourceAddr: pdu.destinationAddr },
      shortMessage: Buffer.from(`id:c-${nth} stat:DELIVRD`),
    }
    setImmediate(() => socket.writable && send(receipt))
    return { command: 'submit_sm_resp', status: 0, sequence: pdu.sequence, messageId: `c-${nth}`, tlvs: noTlvs }
  })
  smsc.on((pdu, { send, socket }) => {
    if (pdu.command !== 'deliver_sm_resp' || pdu.status === 0) return false
    const { sequence } = pdu
    const sourceAddr = smsc.submits[sequence - 1]?.destinationAddr ?? ''
    const shortMessage = Buffer.from(`id:c-${sequence} stat:DELIVRD`)
    setImmediate(() => socket.writable && send({ ...aDelivery, sequence, esmClass: 4, sourceAddr, shortMessage }))
    return true
  })
  return smsc
}

for (const [promise, check] of Object.entries(carrierContract)) {
  test(promise, async () => {
    const smsc = await deliveringSmsc()
    smscs.push(smsc)
    const settings = { ...smppDefaults, host: '127.0.0.1', port: smsc.port, systemId: 'us', password: 'secret' }
    await check(smppCarrier('contract', settings, { report: () => undefined }))
  })
}
