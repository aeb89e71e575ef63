import fc from 'fast-check'
import { anyPdu, FIELDS } from '../testing/any-pdu.ts'
import { COMMAND_ID, COMMAND_STATUS, decodePdu, encodePdu, noTlvs, pduReader, type Pdu } from './index.ts'

const enquire = (sequence: number): Pdu => ({ command: 'enquire_link', status: 0, sequence, tlvs: noTlvs })

/** Returns a header and a body, given in hexadecimal. By default command_length is correct. */
function frame(commandId: number, body: string, length = 16 + body.length / 2): Buffer {
  const header = Buffer.alloc(16)
  header.writeUInt32BE(length, 0)
  header.writeUInt32BE(commandId, 4)
  header.writeUInt32BE(9, 12)
  return Buffer.concat([header, Buffer.from(body, 'hex')])
}

// service_type, source 1 1 '1', destination 1 1 '2', esm_class, protocol_id, priority_flag, two times, four octets.
const beforeMessage = '00' + '01013100' + '01013200' + '000000' + '0000' + '00000000'

test.each([
  ['a length below a header', frame(COMMAND_ID.submit_sm, '', 15), 'command-length-too-small', 'ESME_RINVCMDLEN', true],
  ['a length of nothing', frame(COMMAND_ID.submit_sm, '', 0), 'command-length-too-small', 'ESME_RINVCMDLEN', true],
  ['a huge length', frame(COMMAND_ID.submit_sm, '', 0xffffffff), 'command-length-too-large', 'ESME_RINVCMDLEN', true],
  ['no body', frame(COMMAND_ID.submit_sm, ''), 'body-too-short', 'ESME_RINVCMDLEN', false],
  ['a text without NUL', frame(COMMAND_ID.submit_sm, '4141'), 'string-unterminated', 'ESME_RINVCMDLEN', false],
  ['a service_type of 6', frame(COMMAND_ID.submit_sm, '41414141414100'), 'string-too-long', 'ESME_RINVPARLEN', false],
  [
    'sm_length of 3 for 2',
    frame(COMMAND_ID.submit_sm, `${beforeMessage}034141`),
    'message-too-long',
    'ESME_RINVMSGLEN',
    false,
  ],
  ['no sm_length', frame(COMMAND_ID.submit_sm, beforeMessage), 'body-too-short', 'ESME_RINVCMDLEN', false],
  [
    'a message_payload of 3 for 2',
    frame(COMMAND_ID.submit_sm, `${beforeMessage}00042400034141`),
    'tlv-too-long',
    'ESME_RINVOPTPARSTREAM',
    false,
  ],
  [
    'a third kind of destination',
    frame(COMMAND_ID.submit_multi, '00010131000103'),
    'destination-flag',
    'ESME_RINVDESTFLAG',
    false,
  ],
  [
    '254 destinations that are not there',
    frame(COMMAND_ID.submit_multi, '000101310' + '0fe'),
    'body-too-short',
    'ESME_RINVCMDLEN',
    false,
  ],
] as const)(
  '%s: the reason, the status that answers it, and whether the session must end',
  (_, bytes, reason, status, endsSession) => {
    const received = pduReader().read(Buffer.concat([bytes, encodePdu(enquire(10))]))
    expect(received[0]).toMatchObject({
      command: 'malformed',
      reason,
      answerStatus: COMMAND_STATUS[status],
      endsSession,
      sequence: 9,
    })
    expect(received.slice(1)).toEqual(endsSession ? [] : [enquire(10)])
  },
)

test('nothing is read after a length that ends the session', () => {
  const reader = pduReader()
  expect(reader.read(frame(COMMAND_ID.submit_sm, '', 3))).toHaveLength(1)
  expect(reader.read(encodePdu(enquire(1)))).toEqual([])
})

test('a wrong length is detected by its four octets, before the header is complete', () => {
  expect(pduReader().read(Buffer.from('00000003', 'hex'))).toMatchObject([
    { reason: 'command-length-too-small', sequence: 0 },
  ])
})

test('a PDU of exactly the maximum is read, and one octet more ends the session', () => {
  const submit = frame(COMMAND_ID.generic_nack, '00050001ff')
  expect(pduReader(21).read(submit)).toMatchObject([{ command: 'generic_nack' }])
  expect(pduReader(20).read(submit)).toMatchObject([{ reason: 'command-length-too-large' }])
})

test('an unknown command_id is reported, and the next PDU is read', () => {
  const received = pduReader().read(Buffer.concat([frame(0x0999, 'abcd'), encodePdu(enquire(10))]))
  expect(received).toMatchObject([{ command: 'unknown', commandId: 0x0999, sequence: 9 }, enquire(10)])
})

test('a PDU received octet by octet costs time proportional to its length', () => {
  const message = { tag: 0x0424, value: Buffer.alloc(60_000, 'a') }
  const bytes = encodePdu({ ...enquire(1), tlvs: [message] })
  const reader = pduReader()
  const started = process.cpuUsage()
  const received = [...bytes].flatMap((_, at) => reader.read(bytes.subarray(at, at + 1)))
  const { user, system } = process.cpuUsage(started)
  expect(received).toHaveLength(1)
  // If the reader copied all buffered octets whenever one of the 60 000 octets arrives, it would copy 1.8 GB.
  expect(user + system).toBeLessThan(1_500_000)
})

test('PDUs do not change when later chunks are read', () => {
  const reader = pduReader()
  const bytes = encodePdu({ ...enquire(1), tlvs: [{ tag: 5, value: Buffer.from('first') }] })
  const [first] = [...reader.read(Buffer.from(bytes.subarray(0, 20))), ...reader.read(Buffer.from(bytes.subarray(20)))]
  for (let turn = 0; turn < 5; turn++)
    reader.read(Buffer.alloc(21, Buffer.from('0000001500000015000000000000000200000000', 'hex')))
  expect(first).toMatchObject({ tlvs: [{ value: Buffer.from('first') }] })
})

describe('deviations that many SMSCs make and most clients accept', () => {
  const one = (bytes: Buffer) => pduReader().read(bytes)[0]

  test('the message id of a response without its NUL', () => {
    const answer = frame(COMMAND_ID.submit_sm_resp, Buffer.from('id-77').toString('hex'))
    expect(one(answer)).toMatchObject({ command: 'submit_sm_resp', messageId: 'id-77' })
  })

  test('a system_id of 80 characters in a bind response, with or without its NUL', () => {
    const systemId = 'S'.repeat(80)
    for (const end of ['', '\0']) {
      const answer = frame(COMMAND_ID.bind_transceiver_resp, Buffer.from(systemId + end).toString('hex'))
      expect(one(answer)).toMatchObject({ command: 'bind_transceiver_resp', status: 0, systemId })
    }
  })

  test.each(['0210', '021000', '02100002', '0210000234'])('a TLV of the answer to a bind that is cut: %s', (cut) => {
    const answer = frame(COMMAND_ID.bind_transceiver_resp, `534353000210000134${cut}`)
    expect(one(answer)).toMatchObject({ command: 'bind_transceiver_resp', systemId: 'SCS', tlvs: [{ tag: 0x210 }] })
  })
})

describe('a tail that cannot be a TLV is ignored (P-21)', () => {
  const one = (bytes: Buffer) => pduReader().read(bytes)[0]
  const tails = ['00', '0000', '000000', '0a', 'ff', 'ffff', 'ffffff', '0424', '14000009ab', '001e00ff41']
  const text = `${beforeMessage}024869`
  const state = '0427000102'

  test.each(tails)('%s behind short_message and behind TLVs', (tail) => {
    expect(one(frame(COMMAND_ID.deliver_sm, text + tail))).toMatchObject({
      ...{ command: 'deliver_sm', shortMessage: Buffer.from('Hi'), tlvs: [] },
    })
    expect(one(frame(COMMAND_ID.deliver_sm, text + state + tail))).toMatchObject({
      ...{ command: 'deliver_sm', tlvs: [{ tag: 0x0427, value: Buffer.of(2) }] },
    })
  })

  test('a NUL between short_message and the TLVs hides no TLV', () => {
    expect(one(frame(COMMAND_ID.deliver_sm, `${text}00001e000269310427000102`))).toMatchObject({
      tlvs: [{ tag: 0x001e, value: Buffer.from('i1') }, { tag: 0x0427 }],
    })
  })

  test.each([
    ['a message_payload that is cut off', COMMAND_ID.deliver_sm, `${beforeMessage}00` + '04240005486900'],
    ['a text behind an sm_length of 0', COMMAND_ID.deliver_sm, `${beforeMessage}00` + '486921'],
    [
      'a data_sm whose only text is cut off',
      COMMAND_ID.data_sm,
      '00' + '01013100' + '01013200' + '000000' + '042400ff41',
    ],
  ])('%s is not read as an empty text', (_, commandId, body) => {
    expect(one(frame(commandId, body))).toMatchObject({ command: 'malformed', commandId, endsSession: false })
  })

  test('every PDU with an odd tail has the fields of the PDU without the tail', () => {
    fc.assert(
      fc.property(anyPdu, fc.uint8Array({ minLength: 1, maxLength: 3 }), (sent, tail) => {
        const whole = encodePdu(sent)
        // Skips responses without a body and deliveries without a text, because the tail would be read as the missing
        // body or text.
        const hasFields = Object.keys(FIELDS[sent.command]).length > 0
        fc.pre(whole.length > 16 || !hasFields)
        fc.pre(sent.command !== 'data_sm' && !(sent.command === 'deliver_sm' && sent.shortMessage.length === 0))
        const bytes = Buffer.concat([whole, tail])
        bytes.writeUInt32BE(bytes.length)
        expect(decodePdu(bytes)).toEqual(sent)
      }),
      { numRuns: 400 },
    )
  })
})
