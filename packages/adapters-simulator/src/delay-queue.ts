/** Items that become due after a delay, with one timer for all of them. */
export interface DelayQueue<T> {
  add(things: readonly T[], delayMilliseconds: number): void
  /** Due items in order of their time, at most one batch. */
  takeDue(): readonly T[]
  stop(): void
}

interface Batch<T> {
  readonly due: number
  readonly things: readonly T[]
}

/**
 * Calls `onDue` once, in its own turn of the event loop, when an item becomes due; items not taken then are taken later without
 * another call. There is one queue for each delay, in which items are in order: use few delays.
 */
export function delayQueue<T>(batchMax: number, onDue: () => void): DelayQueue<T> {
  const queues = new Map<number, Batch<T>[]>()
  let timer: NodeJS.Timeout | undefined
  let immediate: NodeJS.Immediate | undefined
  let plannedFor = Infinity
  let stopped = false

  /** The queue whose first batch is due before all others. */
  function first(): { queue: Batch<T>[]; due: number } | undefined {
    let found: { queue: Batch<T>[]; due: number } | undefined
    for (const queue of queues.values()) {
      const due = queue[0]?.due
      if (due !== undefined && (found === undefined || due < found.due)) found = { queue, due }
    }
    return found
  }

  function plan(): void {
    const next = first()?.due
    if (stopped || next === undefined || next >= plannedFor) return
    cancel()
    plannedFor = next
    const wait = Math.ceil(next - performance.now())
    if (wait > 0) timer = setTimeout(tell, wait).unref()
    else immediate = setImmediate(tell)
  }

  function tell(): void {
    plannedFor = Infinity
    onDue()
  }

  function cancel(): void {
    clearTimeout(timer)
    clearImmediate(immediate)
  }

  return {
    add(things, delayMilliseconds) {
      const due = performance.now() + delayMilliseconds
      const queue = queues.get(delayMilliseconds) ?? []
      queues.set(delayMilliseconds, queue)
      for (let at = 0; at < things.length; at += batchMax) queue.push({ due, things: things.slice(at, at + batchMax) })
      plan()
    },
    takeDue() {
      const now = performance.now()
      const taken: T[] = []
      for (let next = first(); next !== undefined && next.due <= now; next = first()) {
        const things = next.queue[0]?.things ?? []
        if (taken.length > 0 && taken.length + things.length > batchMax) break
        next.queue.shift()
        taken.push(...things)
      }
      plan()
      return taken
    },
    stop() {
      stopped = true
      cancel()
    },
  }
}
