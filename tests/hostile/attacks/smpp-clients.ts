import { connect, type Socket } from 'node:net'
import { encodePdu, noTlvs, pduReader } from '@gateway/smpp'
import { addCredential, type SmppLogin } from '../../support/smpp-customers.ts'
import { scaled, type Attack, type Target } from '../attack.ts'
import { count } from '../flood.ts'

const bind = (login: Pick<SmppLogin, 'systemId' | 'password'>): Buffer =>
  encodePdu({
    command: 'bind_transceiver',
    ...{ status: 0, sequence: 1, systemType: '', interfaceVersion: 0x34, addrTon: 0, addrNpi: 0, addressRange: '' },
    ...{ systemId: login.systemId, password: login.password, tlvs: noTlvs },
  })

const submission = encodePdu({
  command: 'submit_sm',
  ...{ status: 0, sequence: 2, serviceType: '', sourceAddrTon: 0, sourceAddrNpi: 0, sourceAddr: '' },
  ...{ destAddrTon: 1, destAddrNpi: 1, destinationAddr: '27835550101', esmClass: 0, protocolId: 0, priorityFlag: 0 },
  ...{ scheduleDeliveryTime: '', validityPeriod: '', registeredDelivery: 1, replaceIfPresentFlag: 0, dataCoding: 0 },
  ...{ smDefaultMsgId: 0, shortMessage: Buffer.from('Hello'), tlvs: noTlvs },
})
const submissions = Buffer.concat(Array.from({ length: 200 }, () => submission))

/** Header of a PDU, with any command_length. */
const header = (length: number, commandId: number): Buffer => {
  const octets = Buffer.alloc(16)
  octets.writeUInt32BE(length, 0)
  octets.writeUInt32BE(commandId, 4)
  octets.writeUInt32BE(1, 12)
  return octets
}

/** Garbage, PDUs that claim to be huge, a PDU of the greatest length, half PDUs, and requests before a bind. */
const nonsense: readonly Buffer[] = [
  Buffer.from('GET / HTTP/1.1\r\nHost: gateway\r\n\r\n'),
  Buffer.alloc(4096, 0xff),
  header(0x7fffffff, 4),
  header(15, 9),
  Buffer.concat([header(16_384, 9), Buffer.alloc(16_368, 0x41)]),
  Buffer.concat([header(16_384, 4), Buffer.alloc(9000)]),
  bind({ systemId: 'half', password: 'half' }).subarray(0, 20),
  submissions,
]

/** Opens connections from several networks, and reopens each closed one after 50 ms. */
function connections({ port }: Target, total: number, opened: (socket: Socket, at: number) => void): void {
  const open = (at: number): void => {
    // A network has at most 50 connections without a bind.
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.${10 + (at % 20)}.1` })
    const reader = pduReader()
    socket.on('error', () => undefined)
    socket.on('close', () => {
      count('closed')
      setTimeout(() => open(at), 50)
    })
    socket.on('data', (chunk: Buffer) => {
      for (const pdu of reader.read(chunk)) if ('status' in pdu) count(`0x${pdu.status.toString(16)}`)
    })
    opened(socket, at)
  }
  for (let at = 0; at < total; at++) open(at)
}

/** Submits without end, as fast as the connection accepts data. */
function submitWithoutEnd(target: Target, reads: boolean): void {
  const login = target.prepared as SmppLogin
  connections(target, 2, (socket) => {
    const write = (): void => {
      while (!socket.destroyed && socket.write(submissions)) continue
    }
    socket.write(bind(login))
    socket.on('drain', write)
    // The bind is decided before the first submission arrives.
    socket.once('data', () => {
      if (!reads) socket.pause()
      write()
    })
  })
}

const prepare: Attack['prepare'] = (_hostile, _full, { environment, hostileId }) =>
  addCredential(environment, hostileId)

export const smppStrangers: Attack = {
  title: '500 SMPP clients with wrong passwords, again and again',
  ...{ by: 'rest', at: 'smpp' },
  run: (target) =>
    connections(target, scaled(target, 500), (socket, at) => {
      socket.write(bind({ systemId: `stranger${at}`, password: 'wrong' }))
    }),
}

export const smppGarbage: Attack = {
  title: '500 SMPP connections with garbage, huge and half PDUs',
  ...{ by: 'rest', at: 'smpp' },
  run: (target) =>
    connections(target, scaled(target, 500), (socket, at) => {
      socket.write(nonsense[at % nonsense.length] ?? '')
    }),
  endsWithin: 12,
}

export const smppFlood: Attack = {
  title: 'SMPP clients that submit without a window',
  ...{ by: 'rest', at: 'smpp', prepare },
  run: (target) => submitWithoutEnd(target, true),
}

export const smppUnread: Attack = {
  title: 'SMPP clients that submit and never read',
  ...{ by: 'rest', at: 'smpp', prepare },
  run: (target) => submitWithoutEnd(target, false),
}
