import type { Figures } from './figures.ts'

/** Knowledge about a message, from the answers that clients received or the record of the simulated carrier. */
export interface KnownMessage {
  readonly account: number
  readonly number: string
  /** Due time in milliseconds; undefined: at once. */
  readonly scheduled: number | undefined
  /** Final code, once a client has seen it. It never changes. */
  final?: number
  finalSince?: number
  /** Number of deletions of this message that were answered DELETED. */
  deleted?: number
  wasSent?: boolean
  notFound?: boolean
}

/** Request to send. Its numbers occur in no other request. */
export interface Sending {
  readonly account: number
  readonly numbers: readonly string[]
  /** Id or refusal of each number; undefined: no response arrived. */
  results?: readonly (number | string)[]
}

/** Transfer. All transfers from one account have different quantities. */
export interface Transferring {
  readonly from: number
  readonly to: number
  readonly quantity: number
  outcome?: string
}

/** Return-once call. Times are milliseconds since 1970. */
export interface Polling {
  readonly account: number
  readonly began: number
  ended?: number
  /** True if a complete response arrived. */
  isWhole?: boolean
}

/** Inbound message that was acknowledged to the carrier as stored. */
export interface DeliveredReply {
  readonly from: string
  readonly text: string
  readonly account: number
  readonly toCode: boolean
}

/** Beginning of texts that opt out (ruling 1.21). */
export const optOutText = 'stop send'

/** Returns the key of an inbound message, unique within the run. */
export const arrivalKey = ({ from, text }: Pick<DeliveredReply, 'from' | 'text'>): string => `${from} ${text}`

/** All responses that clients received. */
export interface Observations {
  readonly messages: Map<number, KnownMessage>
  readonly sendings: Sending[]
  readonly transfers: Transferring[]
  /** Ids of deletions without a response. */
  readonly perhapsDeleted: Set<number>
  readonly pollings: Polling[]
  readonly deliveredReplies: DeliveredReply[]
  /** Account to which an inbound message was returned, by its key. */
  readonly returned: ReadonlyMap<string, number>
  /** Records a complete response of a return-once call. */
  returnedOnce(account: number, items: readonly Pick<DeliveredReply, 'from' | 'text'>[]): void
  /** Calls `then` once, when a client has received the next id. */
  onceAccepted(then: () => void): void
  accepted(sending: Sending, results: readonly (number | string)[], scheduled: number | undefined): void
  /**
   * Records a status. `begun` is the start of the request by performance.now(), because responses may overtake each
   * other.
   */
  status(id: number, code: number, begun: number): void
  deletion(id: number, word: string): void
}

/** Refusals of a send: by the account, by the number, or by the remaining credits. */
const refusals = /^(?:INSUFFICIENT CREDITS|NOCREDITS|ACCOUNTLOCKED|BADDEST|FAIL:BADDEST)$/

const isFinal = (code: number): boolean => code >= 0 && ![100, 105, 106].includes(code)

export function createObservations(figures: Figures): Observations {
  const messages = new Map<number, KnownMessage>()

  function accept({ account, numbers, results = [] }: Sending, scheduled: number | undefined): void {
    if (results.length !== numbers.length) {
      figures.broken('P-14', `${numbers.length} numbers had ${results.length} results: ${String(results.slice(0, 3))}`)
    }
    for (const [i, result] of results.entries()) {
      const number = numbers[i] ?? ''
      if (typeof result === 'string') {
        figures.count('recipients refused')
        if (!refusals.test(result)) figures.broken('P-14', `${number} was refused with ${JSON.stringify(result)}`)
      } else {
        figures.count('recipients accepted')
        if (messages.has(result)) figures.broken('P-1', `id ${result} was given twice`)
        messages.set(result, { account, number, scheduled })
      }
    }
  }

  const returned = new Map<string, number>()
  let waiting: (() => void)[] = []

  return {
    messages,
    onceAccepted: (then) => waiting.push(then),
    sendings: [],
    transfers: [],
    perhapsDeleted: new Set(),
    pollings: [],
    deliveredReplies: [],
    returned,
    returnedOnce: (account, items) => {
      figures.count('items returned', items.length)
      for (const item of items) {
        const key = arrivalKey(item)
        if (returned.has(key)) figures.broken('P-9', `${JSON.stringify(key)} was returned twice`)
        returned.set(key, account)
      }
    },
    accepted: (sending, results, scheduled) => {
      sending.results = results
      accept(sending, scheduled)
      if (!results.some((result) => typeof result === 'number')) return
      const informed = waiting
      waiting = []
      for (const then of informed) then()
    },
    status: (id, code, begun) => {
      const known = messages.get(id)
      if (known === undefined) return
      if (code === -2) figures.broken('P-1', `status of id ${id}, which was accepted, is NOTFOUND -2`)
      const { final, finalSince = Infinity } = known
      if (final !== undefined && final !== code && (isFinal(code) || finalSince < begun)) {
        figures.broken('P-7', `id ${id} was ${final}, which is final, and then ${code}`)
      }
      if (!isFinal(code) || final !== undefined) return
      known.final = code
      known.finalSince = performance.now()
    },
    deletion: (id, word) => {
      const known = messages.get(id)
      if (known === undefined) return
      figures.count(`deletes answered ${word}`)
      // Responses may overtake each other, so SENT and NOTFOUND are judged at the end of the run.
      if (word === 'NOTFOUND') known.notFound = true
      else if (word === 'SENT') known.wasSent = true
      else if (word !== 'DELETED') figures.broken('P-14', `delete of id ${id} answered ${word}`)
      else if ((known.deleted = (known.deleted ?? 0) + 1) > 1) figures.broken('P-8', `id ${id} was DELETED twice`)
    },
  }
}
