import type { Lane } from '@gateway/core/dispatch'
import type { QueueNumber } from '@gateway/core/routes'
import { rotation, type Rotation } from './rotation.ts'
import type { Range } from './rows.ts'

/** Due messages by queue and lane. */
export interface DueQueues {
  of(queue: QueueNumber, lane: Lane): Rotation
  /** Returns the queues of one lane, or of both. */
  all(lane?: Lane): readonly Rotation[]
  add(range: Range): void
  /** Returns every queue that ever had messages. */
  numbers(): readonly QueueNumber[]
}

export function dueQueues(compare: (a: Range, b: Range) => number): DueQueues {
  const queues = new Map<QueueNumber, Readonly<Record<Lane, Rotation>>>()

  function of(queue: QueueNumber, lane: Lane): Rotation {
    const lanes = queues.get(queue) ?? { single: rotation(compare), bulk: rotation(compare) }
    queues.set(queue, lanes)
    return lanes[lane]
  }
  return {
    of,
    all: (lane) =>
      [...queues.values()].flatMap(({ single, bulk }) => [
        ...(lane === 'bulk' ? [] : [single]),
        ...(lane === 'single' ? [] : [bulk]),
      ]),
    add: (range) => of(range.queue, range.send.lane).add(range),
    numbers: () => [...queues.keys()],
  }
}
