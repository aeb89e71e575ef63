import type { Ports } from '../ports.ts'
import type { Receipt } from './receipt.ts'

/** Receipts of one commit at the most; a larger backlog is taken in several. */
const batchMax = 2000

export interface ReceiptQueue {
  /** Resolves once the receipts are stored; rejects if that failed, and then nobody tries them again. */
  add(receipts: readonly Receipt[]): Promise<void>
  /** Goes on with what waits. To be called when messages were recorded. */
  run(): void
}

/**
 * Stores receipts in batches. One that refers to a message which is accepted and not recorded yet waits for the record
 * (`isHeld`), so that it finds its message at the first look.
 */
export function createReceiptQueue(
  ports: Pick<Ports, 'receipts'>,
  isHeld: (reference: string) => boolean,
): ReceiptQueue {
  interface Entry {
    readonly receipts: readonly Receipt[]
    resolve(): void
    reject(problem: unknown): void
  }
  let waiting: Entry[] = []
  let busy = false

  function takeReady(): readonly Entry[] {
    const ready: Entry[] = []
    const held: Entry[] = []
    let count = 0
    for (const entry of waiting) {
      if (count < batchMax && !entry.receipts.some(({ reference }) => isHeld(reference))) {
        ready.push(entry)
        count += entry.receipts.length
      } else held.push(entry)
    }
    waiting = held
    return ready
  }

  async function store(): Promise<void> {
    busy = true
    for (let ready = takeReady(); ready.length > 0; ready = takeReady()) {
      try {
        await ports.receipts.apply(ready.flatMap(({ receipts }) => receipts))
        for (const entry of ready) entry.resolve()
      } catch (problem) {
        for (const entry of ready) entry.reject(problem)
      }
    }
    busy = false
  }

  const run = (): void => {
    if (!busy) void store()
  }

  return {
    add: (receipts) =>
      new Promise((resolve, reject) => {
        waiting.push({ receipts, resolve, reject })
        run()
      }),
    run,
  }
}
