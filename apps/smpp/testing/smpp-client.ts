import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import {
  encodePdu,
  noTlvs,
  pduReader,
  type Bind,
  type DeliverSm,
  type Pdu,
  type ReceivedPdu,
  type SubmitSm,
} from '@gateway/smpp'

export interface SmppClientSettings {
  readonly port: number
  /** Certificate of the authority, for a connection with TLS. */
  readonly ca?: string
  /** command_status with which deliveries are answered; 'none' leaves them without a response. Default 0. */
  readonly deliveryStatus?: (delivery: DeliverSm) => number | 'none'
  /** False if enquire_link is ignored, as if the network of the client had failed. Default true. */
  readonly isAlive?: boolean
  /** True if the client writes each request in two halves, the second one a moment later. Default false. */
  readonly writesInHalves?: boolean
}

const emptyBind = { systemType: '', interfaceVersion: 0x34, addrTon: 0, addrNpi: 0, addressRange: '' }

const emptySubmit: Omit<SubmitSm, 'destinationAddr' | 'shortMessage' | 'sequence'> = {
  command: 'submit_sm',
  ...{ status: 0, serviceType: '', sourceAddrTon: 0, sourceAddrNpi: 0, sourceAddr: '', destAddrTon: 1, destAddrNpi: 1 },
  ...{ esmClass: 0, protocolId: 0, priorityFlag: 0, scheduleDeliveryTime: '', validityPeriod: '' },
  ...{ registeredDelivery: 1, replaceIfPresentFlag: 0, dataCoding: 0, smDefaultMsgId: 0, tlvs: noTlvs },
}

/** SMPP client for tests. Sends any PDU that a test passes, including PDUs that a correct client would not send. */
export class SmppClient {
  readonly deliveries: DeliverSm[] = []
  readonly received: ReceivedPdu[] = []
  readonly #socket: Socket
  readonly #settings: SmppClientSettings
  readonly #waiting = new Map<
    number,
    { readonly resolve: (pdu: Pdu) => void; readonly reject: (error: Error) => void }
  >()
  #sequence = 0
  #written: Promise<void> = Promise.resolve()
  #isClosed = false

  private constructor(socket: Socket, settings: SmppClientSettings) {
    this.#socket = socket
    this.#settings = settings
    const reader = pduReader()
    socket.on('data', (chunk: Buffer) => {
      for (const pdu of reader.read(chunk)) this.#take(pdu)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#isClosed = true
      const ended = new Error('the connection ended before the response')
      for (const { reject } of this.#waiting.values()) reject(ended)
      this.#waiting.clear()
    })
  }

  static async connect(settings: SmppClientSettings): Promise<SmppClient> {
    const { port, ca } = settings
    const socket = ca === undefined ? connect(port, '127.0.0.1') : connectTls({ port, host: '127.0.0.1', ca })
    const client = new SmppClient(socket, settings)
    await new Promise<void>((resolve, reject) => {
      socket.once(ca === undefined ? 'connect' : 'secureConnect', resolve)
      socket.once('error', reject)
    })
    return client
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get socket(): Socket {
    return this.#socket
  }

  /** Sends a request and resolves to its response. */
  request(pdu: Omit<Pdu, 'sequence'>): Promise<Pdu> {
    const sequence = ++this.#sequence
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(new Error('the connection has ended'))
        return
      }
      this.#waiting.set(sequence, { resolve, reject })
      this.#send(encodePdu({ ...pdu, sequence } as Pdu))
    })
  }

  bind(
    systemId: string,
    password: string,
    fields: Partial<Pick<Bind, 'interfaceVersion' | 'addressRange'>> & { readonly command?: Bind['command'] } = {},
  ): Promise<Pdu> {
    return this.request({
      command: 'bind_transceiver',
      ...emptyBind,
      ...{ status: 0, systemId, password, tlvs: noTlvs },
      ...fields,
    })
  }

  submit(destinationAddr: string, text: string | Buffer, fields: Partial<SubmitSm> = {}): Promise<Pdu> {
    const shortMessage = Buffer.isBuffer(text) ? text : Buffer.from(text, 'latin1')
    return this.request({ ...emptySubmit, destinationAddr, shortMessage, ...fields })
  }

  enquire(): Promise<Pdu> {
    return this.request({ command: 'enquire_link', status: 0, tlvs: noTlvs })
  }

  unbind(): Promise<Pdu> {
    return this.request({ command: 'unbind', status: 0, tlvs: noTlvs })
  }

  /** Sends octets as they are. */
  write(octets: Buffer): void {
    this.#socket.write(octets)
  }

  /** Ends the connection without an unbind. */
  destroy(): void {
    this.#socket.destroy()
  }

  #send(octets: Buffer): void {
    if (this.#settings.writesInHalves !== true) {
      this.#socket.write(octets)
      return
    }
    const half = octets.length >> 1
    // A response that is written in between would end up inside this request, so the halves wait for each other.
    this.#written = this.#written.then(async () => {
      this.#socket.write(octets.subarray(0, half))
      await new Promise((resolve) => setImmediate(resolve))
      this.#socket.write(octets.subarray(half))
    })
  }

  #take(pdu: ReceivedPdu): void {
    this.received.push(pdu)
    if (pdu.command === 'malformed' || pdu.command === 'unknown') return
    if (pdu.command === 'deliver_sm') this.#answer(pdu)
    else if (pdu.command === 'enquire_link') {
      if (this.#settings.isAlive !== false) this.#respond({ command: 'enquire_link_resp', ...head(pdu.sequence) })
    } else if (pdu.command === 'unbind') this.#respond({ command: 'unbind_resp', ...head(pdu.sequence) })
    else {
      this.#waiting.get(pdu.sequence)?.resolve(pdu)
      this.#waiting.delete(pdu.sequence)
    }
  }

  #answer(delivery: DeliverSm): void {
    this.deliveries.push({ ...delivery, shortMessage: Buffer.from(delivery.shortMessage) })
    const status = this.#settings.deliveryStatus?.(delivery) ?? 0
    if (status === 'none') return
    this.#respond({ command: 'deliver_sm_resp', ...head(delivery.sequence), status, messageId: '' })
  }

  #respond(pdu: Pdu): void {
    if (!this.#socket.destroyed) this.#send(encodePdu(pdu))
  }
}

const head = (sequence: number) => ({ status: 0, sequence, tlvs: noTlvs })
