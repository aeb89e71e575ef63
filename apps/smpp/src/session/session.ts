import type { Socket } from 'node:net'
import {
  COMMAND_STATUS,
  integerTlv,
  noTlvs,
  TLV_TAG,
  type Bind,
  type DeliverSm,
  type Pdu,
  type ReceivedPdu,
} from '@gateway/smpp'
import { connectionLimits, PduConnection, type PduConnectionLimits } from './pdu-connection.ts'
import {
  headerPdu,
  isBind,
  isOperation,
  isResponse,
  operationOf,
  refuseMalformed,
  refuseOperation,
  refuseRequest,
  type Operation,
} from './responses.ts'

/** Direction of a bind: transmitters submit, receivers get receipts and replies, transceivers do both. */
export type BindKind = 'transmitter' | 'receiver' | 'transceiver'

/** Limits and identity of a successful bind. */
export interface BoundAs {
  readonly systemId: string
  /** Maximum requests without a response, in each direction. */
  readonly window: number
}

/** Callbacks with which the server handles the requests of its sessions. */
export interface SessionHost<Bound extends BoundAs> {
  /** Decides on a bind. Resolves to the command_status of a refusal. Never rejects. */
  bind(session: Session<Bound>, pdu: Bind, kind: BindKind): Promise<Bound | { readonly refused: number }>
  /** Executes an operation and resolves to its response within a second. Never rejects. */
  operate(session: Session<Bound>, bound: Bound, pdu: Operation): Promise<Pdu>
  /** Returns true if the rate of the credential and the limit of the process allow an operation now. */
  hasRoom(bound: Bound): boolean
  /** Counts an operation for the rate of the credential. Returns false if the rate does not allow it now. */
  admits(bound: Bound, pdu: Operation): boolean
  /** The session was bound and its response was written. */
  bound(session: Session<Bound>): void
  /** A delivery was answered, so that the window of the bind has room. */
  hasWindow(session: Session<Bound>): void
  refused(session: Session<Bound>, status: number): void
  closed(session: Session<Bound>, reason: CloseReason): void
}

/** Reason why a session ended. */
export type CloseReason =
  | 'unbound'
  | 'bind-timeout'
  | 'bind-refused'
  | 'silent'
  | 'malformed'
  | 'replaced'
  | 'revoked'
  | 'stopping'
  | 'connection-lost'

export interface SessionTimes {
  /** Milliseconds within which a client must be bound. */
  readonly bindMilliseconds: number
  /** Milliseconds without a PDU after which the server sends enquire_link. */
  readonly enquireMilliseconds: number
  /** Milliseconds for which the server waits for a response. */
  readonly responseMilliseconds: number
}

export const sessionTimes: SessionTimes = {
  bindMilliseconds: 10_000,
  enquireMilliseconds: 30_000,
  responseMilliseconds: 10_000,
}

export interface SessionSettings {
  /** system_id of the server in the responses to binds. */
  readonly serverId: string
  readonly times: SessionTimes
  readonly limits?: PduConnectionLimits
}

interface Request {
  readonly deadline: number
  /** Called with the command_status, or undefined if there was no response. */
  readonly answered: (status: number | undefined) => void
}

/** Returns the address of the client without its zone, or '' if the connection is closed. */
export const addressOf = (socket: Pick<Socket, 'remoteAddress'>): string =>
  (socket.remoteAddress ?? '').replace(/%.*$/, '')

const sequenceMax = 0x7fffffff
const supportedVersion = 0x34

/**
 * Session of one client (SMPP 3.4, 2.2).
 *
 *   open --bind--> binding --accepted--> bound --unbind of either side, stop--> unbinding --all answered--> closed
 *                          --refused---> closed
 *   any state --connection lost, silence, bind timeout, framing error--> closed
 *
 * The server reads in every state. An operation over the window or the rate is answered with ESME_RTHROTTLED at once,
 * so that clients see enquire_link_resp and refusals without delay (docs/smpp-server.md).
 */
export class Session<Bound extends BoundAs> {
  readonly address: string
  readonly #host: SessionHost<Bound>
  readonly #settings: SessionSettings
  readonly #connection: PduConnection
  readonly #requests = new Map<number, Request>()
  #state: 'open' | 'binding' | 'bound' | 'unbinding' | 'closed' = 'open'
  #bound: { readonly as: Bound; readonly kind: BindKind; readonly version: number } | undefined
  #operationsInFlight = 0
  #deliveriesInFlight = 0
  #sequence = 0
  #openedAt: number
  #receivedAt: number
  #isEnquiring = false
  #reason: CloseReason = 'connection-lost'
  #answered: (() => void) | undefined

  constructor(socket: Socket, host: SessionHost<Bound>, settings: SessionSettings) {
    this.address = addressOf(socket)
    this.#host = host
    this.#settings = settings
    this.#openedAt = this.#receivedAt = performance.now()
    this.#connection = new PduConnection(
      socket,
      {
        answered: (commandId, sequence) => this.#answerUndecoded(commandId, sequence),
        received: (pdu) => this.#received(pdu),
        ended: () => this.#ended(),
      },
      settings.limits ?? connectionLimits,
    )
  }

  get state() {
    return this.#state
  }

  get boundAs(): Bound | undefined {
    return this.#bound?.as
  }

  get kind(): BindKind | undefined {
    return this.#bound?.kind
  }

  /** interface_version of the bind; receipts to clients below 0x34 have no TLVs. */
  get version(): number {
    return this.#bound?.version ?? 0
  }

  /** Number of deliveries that the window has room for; 0 unless the bind receives. */
  get deliveryRoom(): number {
    if (this.#state !== 'bound' || this.#bound?.kind === 'transmitter' || this.#isEnquiring) return 0
    return Math.max(0, (this.#bound?.as.window ?? 0) - this.#deliveriesInFlight)
  }

  /** Milliseconds since the client sent its last PDU. */
  silence(now = performance.now()): number {
    return now - this.#receivedAt
  }

  /**
   * Sends a delivery. Resolves to the command_status of the response, or to undefined if the session ended without one.
   * There is no timeout, because a delivery without a response is repeated only after its bind has ended.
   */
  async deliver(pdu: DeliverSm): Promise<number | undefined> {
    this.#deliveriesInFlight++
    const status = await this.#request(pdu, Infinity)
    this.#deliveriesInFlight--
    if (this.#state === 'bound') this.#host.hasWindow(this)
    return status
  }

  /** Sends enquire_link. Resolves to true if the client sends any PDU within these milliseconds. */
  async isAlive(milliseconds: number): Promise<boolean> {
    const timer = setTimeout(() => this.tick(), milliseconds + 1)
    const status = await this.#request(headerPdu('enquire_link', 0), milliseconds)
    clearTimeout(timer)
    return this.#state !== 'closed' && (status !== undefined || this.silence() < milliseconds)
  }

  /** Checks deadlines. Called about once a second. */
  tick(now = performance.now()): void {
    const { bindMilliseconds, enquireMilliseconds } = this.#settings.times
    if (this.#state === 'open' || this.#state === 'binding') {
      if (now - this.#openedAt > bindMilliseconds) this.close('bind-timeout')
      return
    }
    for (const [sequence, request] of this.#requests) if (request.deadline <= now) this.#settle(sequence, undefined)
    if (this.#state === 'bound' && !this.#isEnquiring && this.silence(now) > enquireMilliseconds) void this.#enquire()
  }

  /** Answers outstanding operations, sends unbind, and closes the connection. Resolves when it is closed. */
  async unbind(reason: CloseReason): Promise<void> {
    if (this.#state !== 'bound') {
      this.close(reason)
      return
    }
    this.#state = 'unbinding'
    this.#reason = reason
    await this.#untilAnswered()
    await this.#request(headerPdu('unbind', 0), unbindMilliseconds)
    this.close(reason)
  }

  /** Sends the PDUs written so far and closes the connection. */
  close(reason: CloseReason): void {
    if (this.#state === 'closed') return
    this.#reason = reason
    this.#connection.end()
    this.#end()
  }

  /** Refuses an operation that is not possible now, whatever it contains, and returns true. */
  #answerUndecoded(commandId: number, sequence: number): boolean {
    const command = operationOf(commandId)
    const status = command && this.#refusalOf(command)
    if (command === undefined || status === undefined) return false
    this.#receivedAt = performance.now()
    this.#refuse(refuseOperation({ command, sequence }, status))
    return true
  }

  #received(pdu: ReceivedPdu): void {
    if (this.#state === 'closed') return
    this.#receivedAt = performance.now()
    if (pdu.command === 'malformed') {
      const response = refuseMalformed(pdu)
      if (response !== undefined) this.#refuse(response)
      if (pdu.endsSession) this.close('malformed')
    } else if (pdu.command === 'unknown') {
      if (pdu.commandId < 0x80000000) this.#refuse(nack(pdu.sequence, COMMAND_STATUS.ESME_RINVCMDID))
    } else if (isResponse(pdu)) this.#settle(pdu.sequence, pdu.status)
    else if (pdu.command === 'enquire_link') this.#answerEnquiry(pdu.sequence)
    else if (pdu.command === 'unbind') void this.#unbound(pdu.sequence)
    else if (isBind(pdu)) void this.#bind(pdu)
    else if (isOperation(pdu)) this.#operate(pdu)
    else this.#refuse(refuseRequest(pdu, COMMAND_STATUS.ESME_RINVCMDID))
  }

  #answerEnquiry(sequence: number): void {
    this.#connection.countIdle()
    this.#connection.write(headerPdu('enquire_link_resp', sequence))
  }

  async #bind(pdu: Bind): Promise<void> {
    if (this.#state !== 'open') {
      // RALYBND is right here: this client is bound. It must not be the answer to too many binds, because Kannel takes
      // it for success.
      this.#refuse(refuseRequest(pdu, COMMAND_STATUS.ESME_RALYBND))
      return
    }
    this.#state = 'binding'
    const kind = KINDS[pdu.command]
    const result = await this.#host.bind(this, pdu, kind)
    if (this.#isClosed) return
    if ('refused' in result) {
      this.#refuse(refuseRequest(pdu, result.refused))
      this.close('bind-refused')
      return
    }
    this.#state = 'bound'
    this.#bound = { as: result, kind, version: pdu.interfaceVersion }
    this.#connection.write({
      command: `${pdu.command}_resp`,
      ...{ status: 0, sequence: pdu.sequence, systemId: this.#settings.serverId },
      tlvs:
        pdu.interfaceVersion >= supportedVersion
          ? [integerTlv(TLV_TAG.sc_interface_version, 1, supportedVersion)]
          : noTlvs,
    })
    this.#host.bound(this)
  }

  get #isClosed(): boolean {
    return this.#state === 'closed'
  }

  /** Executes an operation for which `#refusalOf` found no refusal. */
  #operate(pdu: Operation): void {
    const bound = this.#bound
    if (bound === undefined || !this.#host.admits(bound.as, pdu)) {
      this.#refuse(refuseOperation(pdu, COMMAND_STATUS.ESME_RTHROTTLED))
      return
    }
    this.#operationsInFlight++
    void this.#host.operate(this, bound.as, pdu).then((response) => {
      this.#operationsInFlight--
      this.#connection.write(response)
      if (this.#operationsInFlight === 0) this.#settleAnswered()
    })
  }

  /** Returns the command_status of an operation that is refused whatever it contains. */
  #refusalOf(command: Operation['command']): number | undefined {
    if (this.#state === 'unbinding') return COMMAND_STATUS.ESME_RSYSERR
    if (this.#bound === undefined || this.#bound.kind === 'receiver') return COMMAND_STATUS.ESME_RINVBNDSTS
    if (command === 'replace_sm') return COMMAND_STATUS.ESME_RREPLACEFAIL
    const { as: bound } = this.#bound
    const hasRoom = this.#operationsInFlight < bound.window && this.#host.hasRoom(bound)
    return hasRoom ? undefined : COMMAND_STATUS.ESME_RTHROTTLED
  }

  /** Answers the client's unbind once its outstanding operations have been answered. */
  async #unbound(sequence: number): Promise<void> {
    if (this.#state === 'unbinding' || this.#state === 'closed') {
      this.#connection.write(headerPdu('unbind_resp', sequence))
      return
    }
    this.#state = 'unbinding'
    await this.#untilAnswered()
    this.#connection.write(headerPdu('unbind_resp', sequence))
    this.close('unbound')
  }

  #untilAnswered(): Promise<void> | undefined {
    if (this.#operationsInFlight === 0) return undefined
    return new Promise((resolve) => (this.#answered = resolve))
  }

  #settleAnswered(): void {
    this.#answered?.()
    this.#answered = undefined
  }

  async #enquire(): Promise<void> {
    this.#isEnquiring = true
    const isAlive = await this.isAlive(this.#settings.times.responseMilliseconds)
    this.#isEnquiring = false
    if (this.#isClosed) return
    if (isAlive) this.#host.hasWindow(this)
    else this.close('silent')
  }

  #request(pdu: Pdu, milliseconds: number): Promise<number | undefined> {
    return new Promise((resolve) => {
      if (!this.#connection.isOpen) {
        resolve(undefined)
        return
      }
      this.#sequence = this.#sequence === sequenceMax ? 1 : this.#sequence + 1
      this.#requests.set(this.#sequence, { deadline: performance.now() + milliseconds, answered: resolve })
      this.#connection.write({ ...pdu, sequence: this.#sequence })
    })
  }

  #settle(sequence: number, status: number | undefined): void {
    const request = this.#requests.get(sequence)
    this.#requests.delete(sequence)
    request?.answered(status)
  }

  #refuse(response: Pdu): void {
    this.#connection.countIdle()
    this.#connection.write(response)
    this.#host.refused(this, response.status)
    // No client needs to send so much before its bind.
    if (this.#bound === undefined && this.#connection.isFlooded) this.close('malformed')
  }

  #ended(): void {
    this.#end()
  }

  #end(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    for (const sequence of [...this.#requests.keys()]) this.#settle(sequence, undefined)
    this.#settleAnswered()
    this.#host.closed(this, this.#reason)
  }
}

/** Milliseconds for which a stop waits for unbind_resp. */
const unbindMilliseconds = 2000

const KINDS = {
  bind_transmitter: 'transmitter',
  bind_receiver: 'receiver',
  bind_transceiver: 'transceiver',
} as const satisfies Record<Bind['command'], BindKind>

const nack = (sequence: number, status: number): Pdu => headerPdu('generic_nack', sequence, status)
