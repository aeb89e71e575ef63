import { connect, type Socket } from 'node:net'

/** command_id of requests (SMPP 3.4, 5.1.2.1). A response has the highest bit set. */
export const COMMAND = {
  bindReceiver: 0x01,
  bindTransmitter: 0x02,
  query: 0x03,
  submit: 0x04,
  deliver: 0x05,
  unbind: 0x06,
  replace: 0x07,
  cancel: 0x08,
  bindTransceiver: 0x09,
  enquire: 0x15,
  submitMulti: 0x21,
  data: 0x103,
} as const

/** PDU as it arrived. The highest bit of `id` is set in a response and clear in a request. */
export interface SmppAnswer {
  readonly id: number
  readonly status: number
  readonly sequence: number
  readonly body: Buffer
}

/** Message that the gateway delivered: a receipt or a reply. */
export interface SmppDelivered {
  readonly esmClass: number
  readonly sourceAddr: string
  readonly destinationAddr: string
  readonly text: Buffer
  readonly tlvs: ReadonlyMap<number, Buffer>
}

interface Waiting {
  readonly resolve: (answer: SmppAnswer) => void
  readonly reject: (error: Error) => void
}

const headerOctets = 16
const responseBit = 0x80000000

/** Encodes a text as a C-octet string. */
export const cString = (text: string): Buffer => Buffer.from(`${text}\0`, 'latin1')
export const tlv = (tag: number, value: Buffer): Buffer => {
  const head = Buffer.alloc(4)
  head.writeUInt16BE(tag, 0)
  head.writeUInt16BE(value.length, 2)
  return Buffer.concat([head, value])
}

/** Encodes a PDU. */
export function pdu(id: number, sequence: number, body: Buffer, status = 0): Buffer {
  const head = Buffer.alloc(headerOctets)
  head.writeUInt32BE(headerOctets + body.length, 0)
  head.writeUInt32BE(id, 4)
  head.writeUInt32BE(status, 8)
  head.writeUInt32BE(sequence, 12)
  return Buffer.concat([head, body])
}

/** Returns the C-octet string at the beginning of a body. */
export const firstString = (body: Buffer): string => {
  const end = body.indexOf(0)
  return body.toString('latin1', 0, end === -1 ? body.length : end)
}

/** Session of the suite with an SMPP server. It acknowledges each delivery. */
export class SmppSession {
  readonly delivered: SmppDelivered[] = []
  /** Answers in the order of arrival. */
  readonly answers: SmppAnswer[] = []
  readonly #socket: Socket
  readonly #waiting = new Map<number, Waiting>()
  #received = Buffer.alloc(0)
  #sequence = 0
  #isEnded = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#isEnded = true
      for (const { reject } of this.#waiting.values()) reject(new Error('the gateway closed the connection'))
      this.#waiting.clear()
    })
  }

  static async open({ host, port }: { readonly host: string; readonly port: number }): Promise<SmppSession> {
    const socket = connect(port, host)
    const session = new SmppSession(socket)
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return session
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Sends a request and resolves to its response. */
  request(id: number, body: Buffer = Buffer.alloc(0)): Promise<SmppAnswer> {
    const sequence = ++this.#sequence
    const answered = new Promise<SmppAnswer>((resolve, reject) => {
      this.#waiting.set(sequence, { resolve, reject })
    })
    this.write(pdu(id, sequence, body))
    return answered
  }

  bind(id: number, systemId: string, password: string, version = 0x34): Promise<SmppAnswer> {
    const identity = [cString(systemId), cString(password), cString('')]
    return this.request(id, Buffer.concat([...identity, Buffer.of(version, 0, 0), cString('')]))
  }

  /** Sends octets as they are. */
  write(octets: Buffer): void {
    this.#socket.write(octets)
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk])
    while (this.#received.length >= headerOctets) {
      const length = this.#received.readUInt32BE(0)
      if (this.#received.length < length) return
      const one = this.#received.subarray(0, length)
      this.#received = this.#received.subarray(length)
      const [id, status, sequence] = [4, 8, 12].map((at) => one.readUInt32BE(at)) as [number, number, number]
      this.#take({ id, status, sequence, body: Buffer.from(one.subarray(headerOctets)) })
    }
  }

  #take(answer: SmppAnswer): void {
    const { id, sequence, body } = answer
    if (id === COMMAND.deliver) {
      this.delivered.push(readDelivery(body))
      this.write(pdu(responseBit + COMMAND.deliver, sequence, Buffer.of(0)))
    } else if (id < responseBit) this.write(pdu(responseBit + id, sequence, Buffer.alloc(0)))
    else {
      this.answers.push(answer)
      this.#waiting.get(sequence)?.resolve(answer)
      this.#waiting.delete(sequence)
    }
  }
}

/** Reads the fields of deliver_sm that cases check (SMPP 3.4, 4.6.1). */
function readDelivery(body: Buffer): SmppDelivered {
  let at = 0
  const text = (): string => {
    const value = firstString(body.subarray(at))
    at += value.length + 1
    return value
  }
  text()
  at += 2
  const sourceAddr = text()
  at += 2
  const destinationAddr = text()
  const esmClass = body[at] ?? 0
  at += 3
  text()
  text()
  at += 4
  const length = body[at] ?? 0
  const message = body.subarray(at + 1, at + 1 + length)
  const tlvs = new Map<number, Buffer>()
  for (at += 1 + length; at + 4 <= body.length;) {
    const size = body.readUInt16BE(at + 2)
    tlvs.set(body.readUInt16BE(at), body.subarray(at + 4, at + 4 + size))
    at += 4 + size
  }
  return { esmClass, sourceAddr, destinationAddr, text: message, tlvs }
}
