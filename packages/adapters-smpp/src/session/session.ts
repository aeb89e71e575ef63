import { AdaptiveWindow, firstWindow } from '@gateway/carrier-kit'
import type { Confirm } from '../inbound/offers.ts'
import {
  COMMAND_ID,
  COMMAND_STATUS,
  commandStatusName,
  noTlvs,
  type DataSm,
  type DeliverSm,
  type MalformedPdu,
  type Pdu,
  type ReceivedPdu,
} from '@gateway/smpp'
import type { SmppSettings } from '../settings.ts'
import { livenessStep } from './liveness.ts'
import { goodbyeMilliseconds, PduSocket } from './pdu-socket.ts'
import { PendingRequests } from './pending-requests.ts'

export type Role = 'transceiver' | 'transmitter' | 'receiver'

/**
 * Result of a request: its response; `unsent` if the session ended before the request was sent; `unknown` if no
 * response arrived.
 */
export type RequestOutcome = Pdu | 'unsent' | 'unknown'

/** Message or receipt that the carrier delivers. */
export type Delivered = DeliverSm | DataSm

/** Sends the response to a delivery, with a command_status. Called once. */
export type AnswerDelivered = (status: number) => void

/** PDU that cannot be used: its octets cannot be decoded, or a carrier has no reason to send it. */
export type Unusable = Exclude<ReceivedPdu, Delivered>

export interface SessionEvents {
  /** Every PDU, in the order of sending and arrival, for observers. */
  readonly saw?: (direction: 'sent' | 'received', pdu: ReceivedPdu) => void
  /** A submit_sm was answered, `milliseconds` after it was sent. */
  answered?(milliseconds: number): void
  opened(): void
  /** `octets` copies the octets of the PDU; call it before this callback returns. */
  delivered(pdu: Delivered, answer: AnswerDelivered, confirm: Confirm, octets: () => Buffer): void
  /**
   * A PDU arrived over a bound link and cannot be used (P-21). `answer` responds to a delivery; if it is undefined, the
   * session refuses the PDU itself. `octets` works as in `delivered`.
   */
  unusable(pdu: Unusable, octets: () => Buffer, answer?: AnswerDelivered): void
  /** Called once when the session has ended for any reason and all requests are settled. */
  ended(reason: string): void
}

const BIND = {
  transceiver: 'bind_transceiver',
  transmitter: 'bind_transmitter',
  receiver: 'bind_receiver',
} as const

/**
 * Maximum number of deliveries that are processed at a time. Further deliveries are temporarily refused, and the
 * carrier offers them again.
 */
const deliveriesMax = 2000
const noAnswer = 'requests got no answer'

/**
 * Time for which a session must stay bound to count as a success. A carrier may also refuse a session after the bind.
 */
const workedMilliseconds = 5000

type Phase = 'connecting' | 'binding' | 'open' | 'closing' | 'ended'

const nowMilliseconds = (): number => performance.now()

/**
 * One connection to a carrier, from connecting to its end. No method throws.
 *
 *   connecting --connected--> binding --response 0--> open --close, unbind, missed response--> closing
 *   closing --nothing outstanding: unbind or unbind_resp, after 2 s at the latest--> ended
 *   any state --bind refused or too late, connection broken, no sign of life, destroy--> ended
 *
 * Only an open session sends requests. A closing session still handles responses and deliveries.
 */
export class Session {
  readonly role: Role
  readonly #settings: SmppSettings
  readonly #events: SessionEvents
  readonly #socket: PduSocket
  readonly #pending: PendingRequests
  readonly #window: AdaptiveWindow
  /** Number of consecutive requests without a response that ends the connection. */
  readonly #timeoutsMax: number
  readonly #ticking: NodeJS.Timeout
  readonly #startedAt = nowMilliseconds()
  #phase: Phase = 'connecting'
  #sequence = 0
  /** Time when bytes last arrived. */
  #receivedAt = this.#startedAt
  /** Time when the other side last answered a request other than enquire_link. */
  #answeredAt = this.#startedAt
  #openedAt: number | undefined
  #enquiredAt: number | undefined
  /**
   * Number of requests without a response when the current bytes arrived. All responses in these bytes count as
   * simultaneous.
   */
  #unansweredOnArrival = 0
  /** Deliveries that have no response yet. */
  #deliveries = 0
  /** Consecutive requests without a response in time. */
  #timeouts = 0
  /** Number of requests whose responses are long overdue, as of the last tick. They do not count against the window. */
  #overdue = 0
  #unbindSentAt: number | undefined
  #closingReason = 'unbound'
  /** The unbind of the other side. It is answered once nothing is outstanding, or after `goodbyeMilliseconds`. */
  #unbindReceived: { readonly sequence: number; readonly at: number } | undefined

  constructor(settings: SmppSettings, role: Role, events: SessionEvents) {
    const { responseSeconds, enquireSeconds, connectSeconds } = settings
    this.role = role
    this.#settings = settings
    this.#events = events
    this.#pending = new PendingRequests(responseSeconds * 1000)
    this.#window = new AdaptiveWindow(settings)
    this.#timeoutsMax = firstWindow(settings)
    const tick = Math.max(10, Math.min(1000, Math.min(responseSeconds, enquireSeconds, connectSeconds) * 250))
    this.#ticking = setInterval(() => this.#tick(), tick)
    this.#socket = new PduSocket(settings, {
      connected: () => this.#bind(),
      flushing: () => this.#pending.markSent(nowMilliseconds()),
      arriving: () => {
        this.#receivedAt = nowMilliseconds()
        this.#unansweredOnArrival = this.#pending.size
      },
      received: (pdu) => this.#received(pdu),
      arrived: () => this.#phase === 'closing' && this.#closeWhenSettled(this.#receivedAt),
      failed: (reason) => this.destroy(reason),
    })
  }

  /** Returns the number of requests that may be sent now: 0 unless the session is bound for sending. */
  room(): number {
    return this.#maySend() ? Math.max(0, this.#limit() - this.#pending.size) : 0
  }

  /** Returns the number of requests that may be unanswered now: 0 unless the session is bound for sending. */
  window(): number {
    return this.#maySend() ? this.#limit() : 0
  }

  inUse(): number {
    return this.#pending.size
  }

  /** Returns true if answers recently took long. */
  isSlow(now: number): boolean {
    return this.#window.isSlow(now)
  }

  /** Returns true if the session was bound for some seconds or a request was answered. */
  hasWorked(): boolean {
    if (this.#openedAt === undefined) return false
    return this.#answeredAt > this.#openedAt || nowMilliseconds() - this.#openedAt >= workedMilliseconds
  }

  /**
   * Sends a request, together with all others of this turn of the event loop. `settle` is called exactly once. Returns
   * 'invalid', and does not call `settle`, if a value does not fit its field.
   */
  request(build: (sequence: number) => Pdu, settle: (outcome: RequestOutcome) => void): 'sent' | 'invalid' {
    try {
      this.#send(build(this.#nextSequence()), settle)
      return 'sent'
    } catch (problem) {
      if (problem instanceof RangeError) return 'invalid'
      throw problem
    }
  }

  /** Stops sending requests, waits for outstanding responses and for the unbind, and ends with this reason. */
  close(reason = this.#closingReason): void {
    if (this.#phase === 'connecting' || this.#phase === 'binding') this.destroy('closed')
    else if (this.#phase === 'open') {
      this.#phase = 'closing'
      this.#closingReason = reason
      this.#closeWhenSettled(nowMilliseconds())
    }
  }

  /** Ends at once. `reason` is reported unless the session was closing. */
  destroy(reason: string): void {
    if (this.#phase === 'ended') return
    const isExpected = this.#phase === 'closing'
    this.#phase = 'ended'
    this.#socket.destroy()
    this.#finish(isExpected ? this.#closingReason : reason)
  }

  #limit(): number {
    return Math.min(this.#window.limit() + this.#overdue, this.#settings.window)
  }

  #maySend(): boolean {
    return this.#phase === 'open' && this.role !== 'receiver'
  }

  #mayDeliver(): boolean {
    return this.#phase === 'open' || this.#phase === 'closing'
  }

  // Sending

  #nextSequence(): number {
    return (this.#sequence = this.#sequence >= 0x7fffffff ? 1 : this.#sequence + 1)
  }

  /** Throws a RangeError if a value does not fit its field. */
  #send(pdu: Pdu, settle?: (outcome: RequestOutcome) => void): void {
    this.#socket.write(pdu)
    this.#events.saw?.('sent', pdu)
    if (settle !== undefined) this.#pending.add(pdu.sequence, COMMAND_ID[pdu.command], settle)
  }

  #respond(command: 'enquire_link_resp' | 'unbind_resp', sequence: number): void {
    this.#send({ command, status: 0, sequence, tlvs: noTlvs })
  }

  #reject(sequence: number, status: number): void {
    this.#send({ command: 'generic_nack', status, sequence, tlvs: noTlvs })
  }

  #enquire(settle?: (outcome: RequestOutcome) => void): void {
    this.#send({ command: 'enquire_link', status: 0, sequence: this.#nextSequence(), tlvs: noTlvs }, settle)
  }

  // Binding

  #bind(): void {
    if (this.#phase !== 'connecting') return
    this.#phase = 'binding'
    this.#receivedAt = nowMilliseconds()
    const { systemId, password, systemType, interfaceVersion, addressRange } = this.#settings
    const fields = { systemId, password, systemType, interfaceVersion, addrTon: 0, addrNpi: 0, addressRange }
    const header = { command: BIND[this.role], status: 0, sequence: this.#nextSequence(), tlvs: noTlvs }
    this.#send({ ...header, ...fields }, (outcome) => this.#bound(outcome))
  }

  #bound(outcome: RequestOutcome): void {
    if (this.#phase !== 'binding' || typeof outcome === 'string') return
    if (outcome.status !== 0) {
      this.destroy(`the bind was refused: ${commandStatusName(outcome.status)}`)
      return
    }
    this.#phase = 'open'
    this.#openedAt = this.#receivedAt
    this.#events.opened()
  }

  // Receiving

  #received(pdu: ReceivedPdu): void {
    this.#events.saw?.('received', pdu)
    const { command } = pdu
    if (command === 'malformed') this.#handleMalformed(pdu)
    else if (command === 'deliver_sm' || command === 'data_sm') this.#handleDelivered(pdu)
    else if (command === 'enquire_link') this.#respond('enquire_link_resp', pdu.sequence)
    else if (command === 'unbind') this.#handleUnbind(pdu.sequence)
    else if (command === 'unknown' || !isResponse(COMMAND_ID[command])) this.#handleUnexpected(pdu)
    else this.#handleResponse(pdu, COMMAND_ID[command])
  }

  #handleUnbind(sequence: number): void {
    this.#unbindReceived ??= { sequence, at: this.#receivedAt }
    if (this.#phase === 'open') {
      this.#phase = 'closing'
      this.#closingReason = 'the other side unbound'
    }
    this.#closeWhenSettled(this.#receivedAt)
  }

  #handleResponse(pdu: Pdu, commandId: number): void {
    const sentAt = this.#pending.settle(pdu.sequence, commandId, pdu)
    if (sentAt === 'no-request') return
    if (pdu.command !== 'enquire_link_resp') {
      this.#timeouts = 0
      this.#answeredAt = this.#receivedAt
    }
    if (sentAt !== undefined && pdu.command === 'submit_sm_resp') {
      this.#window.settled(this.#receivedAt - sentAt, this.#receivedAt, this.#unansweredOnArrival)
      this.#events.answered?.(this.#receivedAt - sentAt)
    }
  }

  #handleMalformed(pdu: MalformedPdu): void {
    const { sequence, commandId, answerStatus, endsSession, reason } = pdu
    const resp = endsSession ? undefined : RESP_OF_DELIVERY.get(commandId)
    if (resp !== undefined) {
      this.#handleDelivery(resp, sequence, (answer) => this.#events.unusable(pdu, this.#octets, answer))
      return
    }
    this.#keepUnusable(pdu)
    if (isResponse(commandId) && !endsSession) this.#pending.settle(sequence, commandId, 'unknown')
    else this.#reject(sequence, answerStatus)
    if (endsSession) this.#endAfterFlush(`bytes that are not a PDU arrived: ${reason}`)
  }

  #handleUnexpected(pdu: Exclude<Unusable, MalformedPdu>): void {
    if (pdu.command === 'outbind' || pdu.command === 'alert_notification') return
    this.#keepUnusable(pdu)
    const commandId = pdu.command === 'unknown' ? pdu.commandId : COMMAND_ID[pdu.command]
    if (!isResponse(commandId)) this.#reject(pdu.sequence, COMMAND_STATUS.ESME_RINVCMDID)
  }

  /** Passes an unusable PDU on. Before the bind the other side may not be an SMSC at all, so nothing is kept. */
  #keepUnusable(pdu: Unusable): void {
    if (this.#mayDeliver()) this.#events.unusable(pdu, this.#octets)
  }

  #handleDelivered(pdu: Delivered): void {
    const resp = pdu.command === 'deliver_sm' ? 'deliver_sm_resp' : 'data_sm_resp'
    this.#handleDelivery(resp, pdu.sequence, (answer) =>
      this.#events.delivered(pdu, answer, this.#confirm, this.#octets),
    )
  }

  /**
   * Refuses a delivery that cannot be handled now; otherwise calls `handle` with a function that sends its response.
   */
  #handleDelivery(
    command: 'deliver_sm_resp' | 'data_sm_resp',
    sequence: number,
    handle: (answer: AnswerDelivered) => void,
  ): void {
    const answer = (status: number): void => {
      if (this.#phase !== 'ended') this.#send({ command, status, sequence, messageId: '', tlvs: noTlvs })
    }
    if (!this.#mayDeliver()) answer(COMMAND_STATUS.ESME_RINVBNDSTS)
    else if (this.#deliveries >= deliveriesMax) answer(COMMAND_STATUS.ESME_RX_T_APPN)
    else {
      this.#deliveries++
      handle((status) => {
        this.#deliveries--
        answer(status)
      })
    }
  }

  #octets = (): Buffer => this.#socket.octets()

  /** Sends an enquire_link. Its response proves that the other side has read everything sent before. */
  #confirm = (): Promise<boolean> =>
    new Promise((resolve) => {
      if (this.#mayDeliver()) this.#enquire((outcome) => resolve(typeof outcome === 'object'))
      else resolve(false)
    })

  // Timeouts and liveness

  #tick(): void {
    const now = nowMilliseconds()
    if (this.#phase === 'connecting' || this.#phase === 'binding') {
      if (now - this.#startedAt >= this.#settings.connectSeconds * 1000)
        this.destroy('there was no connection and bind in time')
      return
    }
    if (!this.#expireRequests(now)) return
    if (this.#phase === 'closing') this.#closeWhenSettled(now)
    else this.#checkLiveness(now)
  }

  /**
   * Settles requests that got no response in time. They may close the session; returns false if they ended it at once.
   */
  #expireRequests(now: number): boolean {
    const { responseSeconds, silentSeconds } = this.#settings
    const expired = this.#pending.expire(now)
    this.#overdue = this.#pending.sentBefore(now - silentSeconds * 1000)
    // One lost response is harmless if a later request was answered. Otherwise the other side is half dead, even if it
    // answers enquire_link.
    const silent = expired.filter((sentAt) => sentAt >= this.#answeredAt).length
    if (silent === 0) return true
    this.#window.settled(responseSeconds * 1000, now, this.#pending.size)
    this.#timeouts += silent
    if (this.#timeouts >= this.#timeoutsMax) {
      this.destroy(noAnswer)
      return false
    }
    this.close(noAnswer)
    return true
  }

  #checkLiveness(now: number): void {
    const step = livenessStep(this.#receivedAt, this.#enquiredAt, this.#settings.enquireSeconds * 1000, now)
    if (step === 'dead') this.destroy('the other side gave no sign of life')
    if (step !== 'enquire') return
    this.#enquiredAt = now
    this.#enquire()
  }

  // Ending

  /** Unbinds, or answers the unbind of the other side, once nothing is outstanding or the wait has been too long. */
  #closeWhenSettled(now: number): void {
    if (this.#phase === 'ended') return
    const isSettled = this.#pending.size + this.#deliveries === 0
    if (this.#unbindReceived !== undefined) this.#answerUnbind(this.#unbindReceived, isSettled, now)
    else if (this.#unbindSentAt !== undefined) {
      if (now - this.#unbindSentAt >= goodbyeMilliseconds) this.destroy(this.#closingReason)
    } else if (isSettled) {
      this.#unbindSentAt = now
      const unbind = { command: 'unbind', status: 0, sequence: this.#nextSequence(), tlvs: noTlvs } as const
      this.#send(unbind, () => this.destroy(this.#closingReason))
    }
  }

  #answerUnbind({ sequence, at }: { sequence: number; at: number }, isSettled: boolean, now: number): void {
    const mayWait = this.#phase === 'closing' && this.#unbindSentAt === undefined && now - at < goodbyeMilliseconds
    if (!isSettled && mayWait) return
    this.#respond('unbind_resp', sequence)
    this.#endAfterFlush('the other side unbound')
  }

  #endAfterFlush(reason: string): void {
    this.#socket.endAfterFlush()
    this.#phase = 'ended'
    this.#finish(reason)
  }

  #finish(reason: string): void {
    clearInterval(this.#ticking)
    this.#pending.end()
    this.#events.ended(reason)
  }
}

export const openSession = (settings: SmppSettings, role: Role, events: SessionEvents): Session =>
  new Session(settings, role, events)

const RESP_OF_DELIVERY = new Map<number, 'deliver_sm_resp' | 'data_sm_resp'>([
  [COMMAND_ID.deliver_sm, 'deliver_sm_resp'],
  [COMMAND_ID.data_sm, 'data_sm_resp'],
])

const isResponse = (commandId: number): boolean => commandId >= 0x80000000
