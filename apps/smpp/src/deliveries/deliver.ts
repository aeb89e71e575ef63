import type { Processing } from '@gateway/core'
import type {
  EndedDelivery,
  SmppCredential,
  SmppCredentialId,
  SmppDelivery,
  SmppProcessId,
  SmppReceiver,
} from '@gateway/core/smpp-customers'
import { repeat, type Log, type Repeated } from '@gateway/server'
import { COMMAND_STATUS, type DeliverSm } from '@gateway/smpp'
import type { CustomerSession } from '../binds/customer-bind.ts'
import { receiptPdu } from './receipt.ts'
import { replyPdus } from './reply.ts'

export interface DeliverSettings {
  readonly process: SmppProcessId
  readonly processing: Pick<Processing, 'claimDeliveries' | 'settleDeliveries'>
  readonly sessions: () => readonly CustomerSession[]
  readonly log: Log
  readonly pauseMilliseconds?: number
  /** Milliseconds without a response after which the bind of a delivery is closed. */
  readonly responseMilliseconds?: number
}

/** Milliseconds between two searches for deliveries while no bind becomes free. */
const pauseMillisecondsDefault = 200
/** Milliseconds for which a client may leave a delivery without a response. */
const responseMillisecondsDefault = 30_000
/** Seconds for which a claim excludes other processes, also after a kill of this one; longer than the response time. */
const leaseSeconds = 40
/** Milliseconds for which a bind gets nothing after it has temporarily refused a delivery. */
const refusedMilliseconds = 1000

/** command_status values with which a client asks for a repetition. */
const RETRIED: readonly number[] = [
  COMMAND_STATUS.ESME_RX_T_APPN,
  COMMAND_STATUS.ESME_RMSGQFUL,
  COMMAND_STATUS.ESME_RTHROTTLED,
  COMMAND_STATUS.ESME_RSYSERR,
]

/**
 * Delivers stored receipts and replies to the receiving binds of this process, each within the window of its bind. A
 * delivery is settled after the client's response, so that a crash repeats it and never loses it.
 */
export class Deliver {
  readonly #settings: DeliverSettings
  readonly #ended: EndedDelivery[] = []
  readonly #pausedUntil = new WeakMap<CustomerSession, number>()
  readonly #claiming: Repeated
  readonly #settling: Repeated
  #references = 0
  #isStopping = false

  constructor(settings: DeliverSettings) {
    const { log, pauseMilliseconds = pauseMillisecondsDefault } = settings
    this.#settings = settings
    this.#claiming = repeat({ name: 'deliver to SMPP binds', pauseMilliseconds, log, work: () => this.#deliver() })
    this.#settling = repeat({ name: 'settle SMPP deliveries', pauseMilliseconds, log, work: () => this.#settle() })
  }

  /** Claims waiting deliveries soon. To be called when a bind has room. */
  wake(): void {
    this.#claiming.wake()
  }

  /** Stops claiming. Deliveries under way are settled by `finish`. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#claiming.stop()
  }

  /** Stores the results that have arrived. Called when all sessions have ended. */
  async finish(): Promise<void> {
    await this.#settling.stop()
    await this.#settle()
  }

  /**
   * Claims as many deliveries as the windows have room for. Returns 'more' if the claimed deliveries filled the
   * windows.
   */
  async #deliver(): Promise<'more' | 'all'> {
    const receivers = this.#receivers()
    if (this.#isStopping || receivers.length === 0) return 'all'
    const { process, processing } = this.#settings
    const claimed = await processing.claimDeliveries({ process, receivers, leaseSeconds })
    for (const delivery of claimed) void this.#send(delivery)
    const room = receivers.reduce((sum, receiver) => sum + receiver.room, 0)
    return claimed.length === room && this.#receivers().length > 0 ? 'more' : 'all'
  }

  #receivers(): readonly SmppReceiver[] {
    const byCredential = new Map<SmppCredentialId, SmppReceiver>()
    for (const session of this.#settings.sessions()) {
      const credential = session.boundAs?.credential
      const room = this.#roomOf(session)
      if (credential === undefined || room === 0) continue
      const { id, account } = credential
      byCredential.set(id, { account, credential: id, room: room + (byCredential.get(id)?.room ?? 0) })
    }
    return [...byCredential.values()]
  }

  #roomOf(session: CustomerSession): number {
    const isPaused = (this.#pausedUntil.get(session) ?? 0) > performance.now()
    return isPaused ? 0 : session.deliveryRoom
  }

  /** Returns the bind with the most room: one of the credential, else one of the account. */
  #sessionFor({ account, credential }: SmppDelivery): CustomerSession | undefined {
    const free = this.#settings
      .sessions()
      .filter((session) => session.boundAs?.credential.account === account && this.#roomOf(session) > 0)
      .toSorted((a, b) => this.#roomOf(b) - this.#roomOf(a))
    return free.find(({ boundAs }) => boundAs?.credential.id === credential) ?? free[0]
  }

  async #send(delivery: SmppDelivery): Promise<void> {
    const session = this.#sessionFor(delivery)
    const credential = session?.boundAs?.credential
    const { id, tries } = delivery
    if (session === undefined || credential === undefined) {
      this.#end({ id, tries, verdict: 'unsent' })
      return
    }
    const pdus = this.#pdusOf(delivery, session.version, credential)
    const statuses = await Promise.all(pdus.map((pdu) => this.#deliverTo(session, pdu)))
    const failed = statuses.find((status) => status !== COMMAND_STATUS.ESME_ROK)
    const isRetried = statuses.some((status) => status === undefined || RETRIED.includes(status))
    if (isRetried) this.#pausedUntil.set(session, performance.now() + refusedMilliseconds)
    const isDelivered = failed === undefined && statuses.every((status) => status !== undefined)
    this.#end({ id, tries, verdict: isDelivered ? 'delivered' : isRetried ? 'retry' : 'refused' })
  }

  async #deliverTo(session: CustomerSession, pdu: DeliverSm): Promise<number | undefined> {
    const { responseMilliseconds = responseMillisecondsDefault } = this.#settings
    // The lease of the claim must not end while the client may still answer, so its bind ends first.
    const timer = setTimeout(() => session.close('silent'), responseMilliseconds)
    const status = await session.deliver(pdu)
    clearTimeout(timer)
    return status
  }

  #pdusOf(delivery: SmppDelivery, version: number, credential: SmppCredential): readonly DeliverSm[] {
    if (delivery.kind === 'reply') return replyPdus(delivery, credential, ++this.#references)
    return [receiptPdu(delivery, version, credential.receiptOffsetMinutes)]
  }

  #end(ended: EndedDelivery): void {
    this.#ended.push(ended)
    this.#settling.wake()
  }

  async #settle(): Promise<'all'> {
    const ended = this.#ended.splice(0)
    if (ended.length === 0) return 'all'
    const { process, processing } = this.#settings
    try {
      await processing.settleDeliveries(process, ended)
    } catch (error) {
      // Kept until the database answers. If the lease ends before, the deliveries are repeated.
      this.#ended.unshift(...ended)
      throw error
    }
    return 'all'
  }
}
