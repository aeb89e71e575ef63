import type { CallbackSender } from './callback-sender.ts'
import { forged } from './forged.ts'
import type { HttpJournal } from './journal.ts'
import type { HttpOutcome } from './outcomes.ts'
import type { HttpPersonality } from './personalities.ts'
import { digitsOf } from './providers/provider.ts'
import type {
  ProviderCallback,
  ProviderFormat,
  ProviderMessage,
  ProviderReply,
  ReportedState,
  Secrets,
} from './providers/provider.ts'
import type { CallbackEntry } from './settings.ts'

export interface DeliverySettings {
  readonly format: ProviderFormat
  readonly secrets: Secrets
  /** URL of callbacks whose URL was not in the request. */
  readonly callbackUrl: string | undefined
  readonly sender: CallbackSender
  readonly journal: HttpJournal
  readonly personality: () => HttpPersonality
  readonly now: () => number
  readonly nextId: () => string
}

/** Sends receipts and messages from mobiles. */
export interface HttpDeliveries {
  /** Remembers URL and secrets of a request, for replies that an operator injects. */
  remember(message: ProviderMessage): void
  /** Sends the receipts of a message one after the other, and then its reply. Resolves when the first is answered. */
  report(message: ProviderMessage, outcome: HttpOutcome): Promise<void>
  /** Sends a message from a mobile. Throws an Error if no URL is known, or a secret that signs is missing. */
  reply(arrival: Omit<ProviderReply, 'id'>, credentials: Secrets, isReplayed?: boolean): void
}

export function httpDeliveries(settings: DeliverySettings): HttpDeliveries {
  const { format, sender, journal, personality, now, nextId } = settings
  /** URL that the latest request contained. Replies go there if none is configured. */
  let latestUrl: string | undefined
  /** Secrets that the latest request carried, which sign replies that an operator injects. */
  let latestCredentials: Secrets = {}

  const signed = (callback: ProviderCallback, secrets: Secrets, isForged: boolean): ProviderCallback => {
    if (isForged || personality().hasBadSignatures) return forged(callback, format, secrets, now())
    return format.sign?.(callback, secrets, now()) ?? callback
  }

  /** Sends one callback and notes its answer. Each try is signed anew, except that a replay has the same bytes. */
  async function call(
    callback: ProviderCallback,
    entry: Omit<CallbackEntry, 'at' | 'event' | 'status'>,
    { credentials, isForged = false, isReplayed = false }: CallOptions,
  ): Promise<void> {
    const secrets = { ...settings.secrets, ...credentials }
    let bytes: ProviderCallback | undefined
    const status = await sender.send(() => (bytes = signed(callback, secrets, isForged)))
    journal.note({ at: now(), event: 'callback', ...entry, status })
    journal.flush()
    const replay = bytes
    if (isReplayed && replay !== undefined) later(personality().replayDelay, () => void sender.send(() => replay))
  }

  async function receipt(message: ProviderMessage, state: ReportedState, options: CallOptions): Promise<void> {
    const url = message.callback ?? settings.callbackUrl
    if (url === undefined) return
    const kind = options.isForged === true ? 'forged receipt' : 'receipt'
    for (const part of format.partsOf?.(message) ?? [message])
      await call(format.receipt(part, state, url), { kind, id: part.id, state }, options)
  }

  async function report(message: ProviderMessage, outcome: HttpOutcome, done: () => void): Promise<void> {
    const { receipts, receiptTimes, isForgedFirst, isReplayed, reply } = outcome
    const { credentials } = message
    if (isForgedFirst) await receipt(message, 'undelivered', { credentials, isForged: true })
    for (const [nth, state] of receipts.entries()) {
      if (nth > 0) await pause(personality().receiptDelay)
      const times = Math.max(receiptTimes, personality().receiptTimes)
      for (let time = 0; time < times; time++) await receipt(message, state, { credentials, isReplayed })
      done()
    }
    if (reply === undefined) return
    await pause(personality().receiptDelay)
    send({ from: message.to, to: digitsOf(message.from) || message.from, text: reply }, credentials, isReplayed)
  }

  function send(arrival: Omit<ProviderReply, 'id'>, own: Secrets, isReplayed = false): void {
    const url = settings.callbackUrl ?? latestUrl
    if (url === undefined) throw new Error('No URL of callbacks is known: use --callback-url, or send a message first.')
    const credentials = { ...latestCredentials, ...own }
    const reply = { ...arrival, id: nextId() }
    const callback = format.reply(reply, url)
    signed(callback, { ...settings.secrets, ...credentials }, false)
    void call(callback, { kind: 'reply', id: reply.id }, { credentials, isReplayed })
  }

  return {
    remember: ({ callback, credentials }) => {
      latestUrl = callback ?? latestUrl
      latestCredentials = credentials
    },
    report: (message, outcome) => new Promise((done) => void report(message, outcome, done)),
    reply: send,
  }
}

interface CallOptions {
  readonly credentials: Secrets
  readonly isForged?: boolean
  readonly isReplayed?: boolean
}

const later = (milliseconds: number, call: () => void): void => void setTimeout(call, milliseconds).unref()

const pause = (milliseconds: number): Promise<void> =>
  milliseconds === 0 ? Promise.resolve() : new Promise((resolve) => later(milliseconds, resolve))
