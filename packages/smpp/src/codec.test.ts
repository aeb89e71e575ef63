import fc from 'fast-check'
import { anyPdu, bytes, FIELDS, octet, pdus, word } from '../testing/any-pdu.ts'
import { COMMAND_ID, decodePdu, encodePdu, pduReader, pduWriter, type Pdu, type ReceivedPdu } from './index.ts'

test('there is a generator for every PDU', () => {
  expect(Object.keys(FIELDS).sort()).toEqual(Object.keys(COMMAND_ID).sort())
})

test('every PDU decodes to what was encoded', () => {
  for (const pdu of pdus) {
    fc.assert(
      fc.property(pdu, (sent) => {
        expect(decodePdu(encodePdu(sent))).toEqual(sent)
      }),
      { numRuns: 40 },
    )
  }
})

test('PDUs written into one buffer are read in order, however the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(anyPdu, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 400 })), (sent, cuts) => {
      const writer = pduWriter(64)
      for (const pdu of sent) writer.write(pdu)
      expect(read(writer.take(), cuts)).toEqual(sent)
      expect(writer.length).toBe(0)
    }),
    { numRuns: 150 },
  )
})

/** Reads a stream in chunks. `cuts` contains the chunk lengths, which are repeated until the stream ends. */
function read(stream: Buffer, cuts: readonly number[], reader = pduReader()): ReceivedPdu[] {
  const received: ReceivedPdu[] = []
  for (let at = 0, turn = 0; at < stream.length; turn++) {
    const length = cuts[turn % cuts.length] ?? stream.length
    const chunk = Buffer.from(stream.subarray(at, at + length))
    received.push(...reader.read(chunk))
    at += length
  }
  return received
}

test('a prefix of a PDU is malformed, and a reader waits for the rest', () => {
  fc.assert(
    fc.property(anyPdu, (sent) => {
      const whole = encodePdu(sent)
      for (let length = 0; length < whole.length; length += length < 64 ? 1 : 7) {
        expect(decodePdu(whole, 0, length).command).toBe('malformed')
        expect(pduReader().read(whole.subarray(0, length))).toEqual([])
      }
    }),
    { numRuns: 60 },
  )
})

test('a body that is cut short under a matching command_length is malformed or decodes to fields within it', () => {
  fc.assert(
    fc.property(anyPdu, fc.nat(), (sent, cut) => {
      const whole = encodePdu(sent)
      const short = Buffer.from(whole.subarray(0, 16 + (cut % Math.max(1, whole.length - 15))))
      short.writeUInt32BE(short.length)
      const received = decodePdu(short)
      expect('sequence' in received ? received.sequence : undefined).toBe(sent.sequence)
      if (received.command !== 'malformed' && received.command !== 'unknown') isCanonical(received)
    }),
    { numRuns: 500 },
  )
})

/**
 * Expects that encoding and decoding a decoded PDU again yields the same PDU. The encoded octets may differ from the
 * received ones, because the last text of a response needs no NUL and a tail that cannot be a TLV is ignored.
 */
function isCanonical(pdu: Pdu): void {
  expect(decodePdu(encodePdu(pdu))).toEqual(pdu)
}

test('a PDU with changed octets after command_length never throws, and if it decodes it can be encoded again', () => {
  const changes = fc.array(fc.tuple(fc.nat(), octet), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(anyPdu, changes, (sent, changed) => {
      const mutated = Buffer.from(encodePdu(sent))
      for (const [at, value] of changed) mutated[4 + (at % (mutated.length - 4))] = value
      const received = decodePdu(mutated)
      if (received.command === 'malformed') expect(received.endsSession).toBe(false)
      else if (received.command === 'unknown') expect(received.body).toEqual(mutated.subarray(16))
      else isCanonical(received)
    }),
    { numRuns: 1500 },
  )
})

test('a wrong command_length never changes the PDUs before it', () => {
  fc.assert(
    fc.property(fc.array(anyPdu, { minLength: 1, maxLength: 5 }), fc.nat(4), word, (sent, which, length) => {
      const encoded = sent.map((pdu) => Buffer.from(encodePdu(pdu)))
      encoded[which % encoded.length]?.writeUInt32BE(length)
      const received = read(Buffer.concat(encoded), [37])
      expect(received.slice(0, which % encoded.length)).toEqual(sent.slice(0, which % encoded.length))
      endsAtOnce(received)
    }),
    { numRuns: 500 },
  )
})

/** Expects that only the last PDU ends the session. */
const endsAtOnce = (received: readonly ReceivedPdu[]): void => {
  expect(received.slice(0, -1).filter((pdu) => pdu.command === 'malformed' && pdu.endsSession)).toEqual([])
}

test('any bytes are read without an exception, and only received bytes are returned', () => {
  const header = fc.tuple(fc.nat(300), fc.constantFrom(...Object.values(COMMAND_ID)), bytes(300))
  const framed = header.map(([more, commandId, body]) => {
    const frame = Buffer.alloc(16 + more)
    frame.writeUInt32BE(frame.length)
    frame.writeUInt32BE(commandId, 4)
    body.copy(frame, 8)
    return frame
  })
  const parts = fc.array(fc.oneof({ weight: 4, arbitrary: framed }, bytes(60)), { maxLength: 8 })
  fc.assert(
    fc.property(parts, fc.array(fc.integer({ min: 1, max: 100 })), (chunks, cuts) => {
      const stream = Buffer.concat(chunks)
      const received = read(stream, cuts)
      endsAtOnce(received)
      let octets = 0
      for (const pdu of received) octets += octetsOf(pdu)
      expect(octets).toBeLessThanOrEqual(stream.length)
    }),
    { numRuns: 1500 },
  )
})

const octetsOf = (pdu: ReceivedPdu): number =>
  Object.values(pdu).reduce((sum: number, value: unknown) => sum + (Buffer.isBuffer(value) ? value.length : 0), 0)
