import { COMMAND_STATUS } from '@gateway/smpp'
import type { Link } from './link.ts'
import type { Delivery } from './receipts.ts'
import type { FilledSettings } from './settings.ts'

/** Sends each deliver_sm to a link bound to receive, repeatedly until it is acknowledged. */
export interface Deliveries {
  /**
   * Queues a delivery. Calls `done` when the client has acknowledged or permanently refused the delivery. A systemId of
   * '' means any link.
   */
  deliver(systemId: string, delivery: Delivery, done: () => void): void
  /** Adds a link that was bound. */
  opened(link: Link): void
  closed(link: Link): void
  /** Sends the queued deliveries that can be sent now. */
  pump(): void
  /** Returns the number of deliveries that are queued, or sent and not acknowledged. */
  waiting(): number
}

interface Waiting {
  readonly systemId: string
  readonly delivery: Delivery
  readonly done: () => void
}

/** Answers after which a delivery is sent again; undefined means that no answer arrived. */
const FOR_NOW: ReadonlySet<number | undefined> = new Set([
  undefined,
  COMMAND_STATUS.ESME_RX_T_APPN,
  COMMAND_STATUS.ESME_RSYSERR,
  COMMAND_STATUS.ESME_RMSGQFUL,
  COMMAND_STATUS.ESME_RTHROTTLED,
])

export function deliveries(settings: FilledSettings, isSilent: () => boolean): Deliveries {
  const queues = new Map<string, Fifo<Waiting>>()
  const receivers: Link[] = []
  let sent = 0

  const queueOf = (systemId: string): Fifo<Waiting> => {
    const known = queues.get(systemId)
    if (known !== undefined) return known
    const queue = fifo<Waiting>()
    queues.set(systemId, queue)
    return queue
  }

  /** Returns the link with the fewest unacknowledged deliveries, if one has room. */
  function receiverOf(systemId: string): Link | undefined {
    let best: Link | undefined
    for (const link of receivers) {
      if (systemId !== '' && link.bound?.systemId !== systemId) continue
      if (link.unanswered < (best?.unanswered ?? settings.deliveryWindow)) best = link
    }
    return best
  }

  function pumpOne(systemId: string, queue: Fifo<Waiting>): void {
    if (isSilent()) return
    while (queue.length > 0) {
      const link = receiverOf(systemId)
      const next = link === undefined ? undefined : queue.take()
      if (link === undefined || next === undefined) return
      send(link, next)
    }
  }

  function send(link: Link, next: Waiting): void {
    sent++
    link.request(next.delivery, (status) => {
      sent--
      answered(next, status)
    })
  }

  function answered(next: Waiting, status: number | undefined): void {
    const queue = queueOf(next.systemId)
    if (!FOR_NOW.has(status)) next.done()
    else if (status === undefined) queue.putBack(next)
    else setTimeout(() => again(next), settings.retryMilliseconds).unref()
    pumpOne(next.systemId, queue)
  }

  function again(next: Waiting): void {
    const queue = queueOf(next.systemId)
    queue.add(next)
    pumpOne(next.systemId, queue)
  }

  function pump(): void {
    for (const [systemId, queue] of queues) pumpOne(systemId, queue)
  }

  return {
    deliver(systemId, delivery, done) {
      again({ systemId, delivery, done })
    },
    opened(link) {
      if (link.bound?.kind !== 'bind_transmitter') receivers.push(link)
      pump()
    },
    closed(link) {
      const at = receivers.indexOf(link)
      if (at >= 0) receivers.splice(at, 1)
    },
    pump,
    waiting: () => [...queues.values()].reduce((sum, { length }) => sum + length, sent),
  }
}

/** First-in, first-out queue. Removing an item takes the same time for a long queue as for a short one. */
export interface Fifo<T> {
  readonly length: number
  add(item: T): void
  /** Adds an item before all others. */
  putBack(item: T): void
  take(): T | undefined
}

export function fifo<T>(): Fifo<T> {
  let items: (T | undefined)[] = []
  const first: T[] = []
  let head = 0
  return {
    get length() {
      return first.length + items.length - head
    },
    add: (item) => void items.push(item),
    putBack: (item) => void first.push(item),
    take() {
      if (first.length > 0) return first.pop()
      if (head >= items.length) return undefined
      const item = items[head]
      items[head++] = undefined
      if (head > 1024 && head * 2 > items.length) {
        items = items.slice(head)
        head = 0
      }
      return item
    },
  }
}
