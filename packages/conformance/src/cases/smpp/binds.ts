import { setTimeout as delay } from 'node:timers/promises'
import type { Case } from '../../case.ts'
import { expectEqual } from '../../expectations.ts'
import { COMMAND, firstString, pdu, type SmppSession } from '../../smpp-session.ts'
import { STATUS } from './refusals.ts'
import { bound, openSession, submit } from './sessions.ts'

const responseBit = 0x80000000
const genericNack = 0x80000000

/** Waits until the gateway has closed the connection. */
async function untilEnded(session: SmppSession): Promise<void> {
  const end = Date.now() + 20_000
  while (!session.isEnded && Date.now() < end) await delay(20)
  expectEqual(session.isEnded, true)
}

const garbage: readonly (readonly [what: string, octets: Buffer])[] = [
  ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: gateway\r\n\r\n')],
  ['a PDU shorter than a header', Buffer.from([0, 0, 0, 15, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1])],
  ['a PDU of 256 MB', Buffer.from([16, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1])],
]

export const smppBindCases: readonly Case[] = [
  ...(['bindTransceiver', 'bindTransmitter', 'bindReceiver'] as const).map((name): Case => ({
    of: ['5.5'],
    title: `SMPP: ${name} is accepted, answered with a system_id and sc_interface_version, and ends with unbind`,
    alone: 'smpp',
    run: async (gateway) => {
      const { systemId, password } = gateway.configured(gateway.configuration.smpp, 'smpp')
      const session = await openSession(gateway)
      const answer = await session.bind(COMMAND[name], systemId, password)
      expectEqual([answer.id - responseBit, answer.status], [COMMAND[name], 0])
      const { length } = firstString(answer.body)
      expectEqual(length > 0, true)
      expectEqual(answer.body.subarray(length + 1).toString('hex'), '0210000134')
      expectEqual((await session.request(COMMAND.unbind)).status, 0)
      await untilEnded(session)
    },
  })),
  {
    of: ['5.5'],
    title: 'SMPP: a bind below version 3.4 is answered without optional parameters',
    alone: 'smpp',
    run: async (gateway) => {
      const { systemId, password } = gateway.configured(gateway.configuration.smpp, 'smpp')
      const session = await openSession(gateway)
      const { status, body } = await session.bind(COMMAND.bindTransceiver, systemId, password, 0x33)
      expectEqual([status, body.length], [0, firstString(body).length + 1])
    },
  },
  {
    of: ['5.5'],
    title: 'SMPP: a wrong password and an unknown system id are answered RINVPASWD alike, and the connection ends',
    alone: 'smpp',
    run: async (gateway) => {
      const { systemId, password } = gateway.configured(gateway.configuration.smpp, 'smpp')
      for (const [id, word] of [
        [systemId, `${password}x`],
        ['nobody', password],
      ] as const) {
        const session = await openSession(gateway)
        const answer = await session.bind(COMMAND.bindTransceiver, id, word)
        expectEqual([answer.status, firstString(answer.body)], [STATUS.RINVPASWD, ''])
        await untilEnded(session)
      }
    },
  },
  {
    of: ['5.5'],
    title: 'SMPP: a second bind on a connection is answered RALYBND, and the first one stays',
    alone: 'smpp',
    run: async (gateway) => {
      const { systemId, password } = gateway.configured(gateway.configuration.smpp, 'smpp')
      const session = await bound(gateway)
      expectEqual((await session.bind(COMMAND.bindTransceiver, systemId, password)).status, STATUS.RALYBND)
      expectEqual((await session.request(COMMAND.enquire)).status, 0)
    },
  },
  {
    of: ['5.5'],
    title: 'SMPP: before a bind and over a receiver a submission is answered RINVBNDSTS, and enquire_link is answered',
    alone: 'smpp',
    run: async (gateway) => {
      for (const session of [await openSession(gateway), await bound(gateway, COMMAND.bindReceiver)]) {
        expectEqual((await submit(session, { to: gateway.number })).status, STATUS.RINVBNDSTS)
        expectEqual((await session.request(COMMAND.enquire)).status, 0)
      }
    },
  },
  {
    of: ['5.4'],
    title: 'SMPP: an unknown command is answered with generic_nack and RINVCMDID, and the session continues',
    alone: 'smpp',
    run: async (gateway) => {
      const session = await bound(gateway)
      const answer = await session.request(0x112)
      expectEqual([answer.id, answer.status], [genericNack, STATUS.RINVCMDID])
      expectEqual((await session.request(COMMAND.enquire)).status, 0)
    },
  },
  {
    of: ['5.4'],
    title: 'SMPP: a request that arrives octet by octet is answered',
    alone: 'smpp',
    run: async (gateway) => {
      const session = await bound(gateway)
      for (const octet of pdu(COMMAND.enquire, 999, Buffer.alloc(0))) {
        session.write(Buffer.of(octet))
        await delay(1)
      }
      const end = Date.now() + 10_000
      const isAnswered = (): boolean => session.answers.some(({ sequence }) => sequence === 999)
      while (!isAnswered() && Date.now() < end) await delay(20)
      expectEqual(isAnswered(), true)
    },
  },
  ...garbage.map(([name, octets]): Case => ({
    of: ['5.4'],
    title: `SMPP: ${name} is answered with generic_nack and RINVCMDLEN, and the connection ends`,
    alone: 'smpp',
    run: async (gateway) => {
      const session = await openSession(gateway)
      session.write(octets)
      await untilEnded(session)
      expectEqual(
        session.answers.map(({ id, status }) => [id, status]),
        [[genericNack, STATUS.RINVCMDLEN]],
      )
    },
  })),
]
