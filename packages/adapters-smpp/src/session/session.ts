import type { Confirm } from '../inbound/offers.ts'
import {
  COMMAND_ID,
  COMMAND_STATUS,
  commandStatusName,
  noTlvs,
  pduReader,
  pduWriter,
  type DataSm,
  type DeliverSm,
  type MalformedPdu,
  type Pdu,
  type ReceivedPdu,
} from '@gateway/smpp'
import type { SmppSettings } from '../settings.ts'
import { connect, connectionProblem } from './connect.ts'
import { createAdaptiveWindow, firstWindow, createPendingRequests } from './pending-requests.ts'

export type Role = 'transceiver' | 'transmitter' | 'receiver'

/** What became of a request: its response, or the session ended before its bytes left, or nobody can tell. */
export type RequestOutcome = Pdu | 'unsent' | 'unknown'

/** A message or receipt that came, with its answer: a command_status, once. */
export type Delivered = DeliverSm | DataSm
export type AnswerDelivered = (status: number) => void

/** A PDU that cannot be used: its octets cannot be decoded, or no carrier has a reason to send it. */
export type Unusable = Exclude<ReceivedPdu, Delivered>

export interface SessionEvents {
  /** Every PDU in the order in which it is sent or came; for who wants to look on. */
  readonly saw?: (direction: 'sent' | 'received', pdu: ReceivedPdu) => void
  /** A submit_sm was answered, so many milliseconds after it had left. */
  answered?(milliseconds: number): void
  opened(): void
  /** `octets` copies what the PDU was read from; to be called before this returns. */
  delivered(pdu: Delivered, answer: AnswerDelivered, confirm: Confirm, octets: () => Buffer): void
  /**
   * A PDU came over a bound link and cannot be used (P-21). `answer` answers a delivery; undefined: the PDU is refused
   * without waiting for what becomes of it. `octets` as in `delivered`.
   */
  unusable(pdu: Unusable, octets: () => Buffer, answer?: AnswerDelivered): void
  /** Once, at the end, whoever ended it, with all requests settled; there was no bind if it was never opened. */
  ended(reason: string): void
}

/** One connection to a carrier from its making to its end. It never throws. */
export interface Session {
  readonly role: Role
  /** So many requests may be sent now: 0 unless it is bound for sending. */
  room(): number
  /** So many requests may be unanswered now: 0 unless it is bound for sending. */
  window(): number
  inUse(): number
  /** Its answers took long lately. */
  isSlow(now: number): boolean
  /** Whether it was of use: it was bound for some seconds, or a request was answered. */
  hasWorked(): boolean
  /**
   * Sends a request, with all others of the same call; settled exactly once. 'invalid': a field does not fit its
   * place.
   */
  request(build: (sequence: number) => Pdu, settle: (outcome: RequestOutcome) => void): 'sent' | 'invalid'
  /** Sends no more, waits for the responses that are due and for the unbind, and ends, with this reason. */
  close(reason?: string): void
  /** Ends at once. */
  destroy(reason: string): void
}

const BIND = {
  transceiver: 'bind_transceiver',
  transmitter: 'bind_transmitter',
  receiver: 'bind_receiver',
} as const

/** More deliveries than this are not worked on at a time; the carrier offers the others again. */
const deliveriesMax = 2000
const unanswered = 'requests got no answer'

/** A link that is bound for so long was not refused in another way. */
const workedMilliseconds = 5000

/** So long the other side has to close its end, and to answer an unbind. */
const goodbyeMilliseconds = 2000

const nowMilliseconds = (): number => performance.now()

export function openSession(settings: SmppSettings, role: Role, events: SessionEvents): Session {
  const { responseSeconds, enquireSeconds, connectSeconds } = settings
  const reader = pduReader()
  const writer = pduWriter()
  const pending = createPendingRequests(responseSeconds * 1000)
  const window = createAdaptiveWindow(settings)
  /** So many requests in a row without an answer end the connection. */
  const timeoutsMax = firstWindow(settings)
  let phase: 'connecting' | 'binding' | 'open' | 'closing' | 'ended' = 'connecting'
  let sequence = 0
  let isFlushPlanned = false
  let receivedAt = nowMilliseconds()
  /** When the PDUs came that are read now; those of one turn are answered together. */
  let unansweredThen = 0
  /** What is taken now was read from there. */
  let readFrom: { bytes: Buffer; start: number; end: number } = { bytes: Buffer.alloc(0), start: 0, end: 0 }
  let enquiredAt: number | undefined
  let deliveries = 0
  let timeouts = 0
  /** Requests whose answers are long overdue, as `tick` has found them: they take no room while there is some. */
  let overdue = 0
  /** When the other side last answered a request that asks for more than a sign of life. */
  let answeredAt = receivedAt
  let openedAt: number | undefined
  let closingSince: number | undefined
  let closingReason = 'unbound'
  /** The other side wants to unbind; it is answered once nothing is under way, or so much later. */
  let unbindAsked: { readonly sequence: number; readonly at: number } | undefined
  const startedAt = receivedAt
  const tickMilliseconds = Math.max(10, Math.min(1000, Math.min(responseSeconds, enquireSeconds, connectSeconds) * 250))
  const ticking = setInterval(tick, tickMilliseconds)
  const socket = connect(settings, bind)
  socket.on('data', receive)
  socket.on('error', (problem) => end(connectionProblem(problem)))
  socket.on('close', () => end('the other side closed the connection'))

  function bind(): void {
    if (phase !== 'connecting') return
    phase = 'binding'
    receivedAt = nowMilliseconds()
    const { systemId, password, systemType, interfaceVersion, addressRange } = settings
    const fields = { systemId, password, systemType, interfaceVersion, addrTon: 0, addrNpi: 0, addressRange }
    send({ command: BIND[role], status: 0, sequence: nextSequence(), tlvs: noTlvs, ...fields }, bound)
  }

  function bound(outcome: RequestOutcome): void {
    if (phase !== 'binding' || typeof outcome === 'string') return
    if (outcome.status !== 0) {
      end(`the bind was refused: ${commandStatusName(outcome.status)}`)
      return
    }
    phase = 'open'
    openedAt = receivedAt
    events.opened()
  }

  const nextSequence = (): number => (sequence = sequence >= 0x7fffffff ? 1 : sequence + 1)

  /** Throws if a field does not fit. */
  function send(pdu: Pdu, settle?: (outcome: RequestOutcome) => void): void {
    writer.write(pdu)
    events.saw?.('sent', pdu)
    if (settle !== undefined) pending.add(pdu.sequence, COMMAND_ID[pdu.command], settle)
    if (isFlushPlanned) return
    isFlushPlanned = true
    queueMicrotask(flush)
  }

  /**
   * All PDUs that one call made in one write, before anything that follows it: what leaves is with the kernel before
   * the next is marked (P-6).
   */
  function flush(): void {
    isFlushPlanned = false
    if (phase === 'ended' || writer.length === 0) return
    pending.haveLeft(nowMilliseconds())
    socket.write(writer.take())
  }

  function receive(chunk: Buffer): void {
    receivedAt = nowMilliseconds()
    unansweredThen = pending.size()
    reader.each(chunk, (pdu, bytes, start, end) => {
      if (isEnded()) return
      events.saw?.('received', pdu)
      readFrom = { bytes, start, end }
      take(pdu)
    })
    if (isEnded()) return
    if (phase === 'closing') closeWhenSettled(receivedAt)
  }

  function take(pdu: ReceivedPdu): void {
    const { command } = pdu
    if (command === 'malformed') takeMalformed(pdu)
    else if (command === 'deliver_sm' || command === 'data_sm') deliver(pdu)
    else if (command === 'enquire_link') respond('enquire_link_resp', pdu.sequence)
    else if (command === 'unbind') takeUnbind(pdu.sequence)
    else if (command === 'unknown' || !isResponse(COMMAND_ID[command])) takeStrange(pdu)
    else takeResponse(pdu, COMMAND_ID[command])
  }

  function takeUnbind(number: number): void {
    unbindAsked ??= { sequence: number, at: receivedAt }
    if (phase === 'open') {
      phase = 'closing'
      closingReason = 'the other side unbound'
    }
    closeWhenSettled(receivedAt)
  }

  function takeResponse(pdu: Pdu, commandId: number): void {
    const leftAt = pending.settle(pdu.sequence, commandId, pdu)
    if (leftAt === 'nobody') return
    if (pdu.command !== 'enquire_link_resp') {
      timeouts = 0
      answeredAt = receivedAt
    }
    if (leftAt !== undefined && pdu.command === 'submit_sm_resp') {
      window.settled(receivedAt - leftAt, receivedAt, unansweredThen)
      events.answered?.(receivedAt - leftAt)
    }
  }

  function takeMalformed(pdu: MalformedPdu): void {
    const { sequence: number, commandId, answerStatus, endsSession, reason } = pdu
    const resp = endsSession ? undefined : RESP_OF_DELIVERY.get(commandId)
    if (resp !== undefined) {
      receiveDelivery(resp, number, (answer) => events.unusable(pdu, octets, answer))
      return
    }
    keepUnusable(pdu)
    if (isResponse(commandId) && !endsSession) pending.settle(number, commandId, 'unknown')
    else reject(number, answerStatus)
    if (endsSession) endAfterFlush(`bytes that are no PDU came: ${reason}`)
  }

  function takeStrange(pdu: Exclude<Unusable, MalformedPdu>): void {
    if (pdu.command === 'outbind' || pdu.command === 'alert_notification') return
    keepUnusable(pdu)
    const commandId = pdu.command === 'unknown' ? pdu.commandId : COMMAND_ID[pdu.command]
    if (!isResponse(commandId)) reject(pdu.sequence, COMMAND_STATUS.ESME_RINVCMDID)
  }

  /** Before the bind the other side may not be an SMSC at all: nothing is delivered yet, and nothing is kept. */
  function keepUnusable(pdu: Unusable): void {
    if (phase === 'open' || phase === 'closing') events.unusable(pdu, octets)
  }

  function respond(command: 'enquire_link_resp' | 'unbind_resp', number: number): void {
    send({ command, status: 0, sequence: number, tlvs: noTlvs })
  }

  function reject(number: number, status: number): void {
    send({ command: 'generic_nack', status, sequence: number, tlvs: noTlvs })
  }

  function deliver(pdu: Delivered): void {
    const resp = pdu.command === 'deliver_sm' ? 'deliver_sm_resp' : 'data_sm_resp'
    receiveDelivery(resp, pdu.sequence, (answer) => events.delivered(pdu, answer, confirm, octets))
  }

  /** Answers a delivery at once where it cannot be handled now; else passes on how it is answered later. */
  function receiveDelivery(
    command: 'deliver_sm_resp' | 'data_sm_resp',
    number: number,
    handle: (answer: AnswerDelivered) => void,
  ): void {
    const answer = (status: number): void => {
      if (phase !== 'ended') send({ command, status, sequence: number, messageId: '', tlvs: noTlvs })
    }
    if (phase !== 'open' && phase !== 'closing') answer(COMMAND_STATUS.ESME_RINVBNDSTS)
    else if (deliveries >= deliveriesMax) answer(COMMAND_STATUS.ESME_RX_T_APPN)
    else {
      deliveries++
      handle((status) => {
        deliveries--
        answer(status)
      })
    }
  }

  const octets = (): Buffer => Buffer.from(readFrom.bytes.subarray(readFrom.start, readFrom.end))

  const isEnded = (): boolean => phase === 'ended'

  /** Who answers an enquire_link has read what was sent before it. */
  const confirm = (): Promise<boolean> =>
    new Promise((resolve) => {
      if (phase !== 'open' && phase !== 'closing') resolve(false)
      else {
        const enquiry = { command: 'enquire_link', status: 0, sequence: nextSequence(), tlvs: noTlvs } as const
        send(enquiry, (outcome) => resolve(typeof outcome === 'object'))
      }
    })

  function endAfterFlush(reason: string): void {
    flush()
    phase = 'ended'
    finish(reason)
    socket.end()
    setTimeout(() => socket.destroy(), goodbyeMilliseconds).unref()
  }

  function end(reason: string): void {
    if (phase === 'ended') return
    const isExpected = phase === 'closing'
    phase = 'ended'
    socket.destroy()
    finish(isExpected ? closingReason : reason)
  }

  function finish(reason: string): void {
    clearInterval(ticking)
    pending.end()
    events.ended(reason)
  }

  function tick(): void {
    const now = nowMilliseconds()
    if (phase === 'connecting' || phase === 'binding') {
      if (now - startedAt >= connectSeconds * 1000) end('there was no connection and bind in time')
      return
    }
    const expired = pending.expire(now)
    overdue = pending.leftBefore(now - settings.silentSeconds * 1000)
    // One answer may be lost; where none has come since, the other side is half dead, whatever signs of life it gives.
    const silent = expired.filter((leftAt) => leftAt >= answeredAt).length
    if (silent > 0) window.settled(responseSeconds * 1000, now, pending.size())
    timeouts += silent
    if (timeouts >= timeoutsMax) {
      end(unanswered)
      return
    }
    if (silent > 0) close(unanswered)
    if (phase === 'closing') closeWhenSettled(now)
    else checkLiveness(now)
  }

  function checkLiveness(now: number): void {
    const step = livenessStep(receivedAt, enquiredAt, enquireSeconds * 1000, now)
    if (step === 'dead') end('the other side gave no sign of life')
    if (step !== 'enquire') return
    enquiredAt = now
    send({ command: 'enquire_link', status: 0, sequence: nextSequence(), tlvs: noTlvs })
  }

  function closeWhenSettled(now: number): void {
    if (phase === 'ended') return
    const isSettled = pending.size() + deliveries === 0
    if (unbindAsked !== undefined) {
      const mayWait = phase === 'closing' && closingSince === undefined && now - unbindAsked.at < goodbyeMilliseconds
      if (!isSettled && mayWait) return
      respond('unbind_resp', unbindAsked.sequence)
      endAfterFlush('the other side unbound')
      return
    }
    if (closingSince !== undefined) {
      if (now - closingSince >= goodbyeMilliseconds) end(closingReason)
      return
    }
    if (!isSettled) return
    closingSince = now
    send({ command: 'unbind', status: 0, sequence: nextSequence(), tlvs: noTlvs }, () => end(closingReason))
  }

  function close(reason = closingReason): void {
    if (phase === 'connecting' || phase === 'binding') end('closed')
    else if (phase === 'open') {
      phase = 'closing'
      closingReason = reason
      closeWhenSettled(nowMilliseconds())
    }
  }

  const limit = (): number => Math.min(window.limit() + overdue, settings.window)
  const maySend = (): boolean => phase === 'open' && role !== 'receiver'

  return {
    role,
    room: () => (maySend() ? Math.max(0, limit() - pending.size()) : 0),
    window: () => (maySend() ? limit() : 0),
    inUse: () => pending.size(),
    isSlow: (now) => window.isSlow(now),
    hasWorked: () =>
      openedAt !== undefined && (answeredAt > openedAt || nowMilliseconds() - openedAt >= workedMilliseconds),
    request(build, settle) {
      try {
        send(build(nextSequence()), settle)
        return 'sent'
      } catch (problem) {
        if (problem instanceof RangeError) return 'invalid'
        throw problem
      }
    },
    close,
    destroy: end,
  }
}

const RESP_OF_DELIVERY = new Map<number, 'deliver_sm_resp' | 'data_sm_resp'>([
  [COMMAND_ID.deliver_sm, 'deliver_sm_resp'],
  [COMMAND_ID.data_sm, 'data_sm_resp'],
])

const isResponse = (commandId: number): boolean => commandId >= 0x80000000

/** What is to be done about the silence of the other side. */
export type LivenessStep = 'nothing' | 'enquire' | 'dead'

/**
 * Judged by when bytes last came, in milliseconds: after `silence` it is asked, after twice that without a byte it is
 * dead. With the default of 15 s a dead peer is found within 30 s and a look at the clock.
 */
export function livenessStep(
  receivedAt: number,
  enquiredAt: number | undefined,
  silence: number,
  now: number,
): LivenessStep {
  const silent = now - receivedAt
  if (silent < silence) return 'nothing'
  if (enquiredAt === undefined || enquiredAt < receivedAt) return 'enquire'
  return now - enquiredAt >= silence ? 'dead' : 'nothing'
}
