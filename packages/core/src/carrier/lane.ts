import type { Lane } from './claimed-batches.ts'

/** Sends of so many numbers and fewer never wait behind larger ones (P-13). */
export const singleLaneMax = 10

/** The lane of a send of so many messages, for all its life. Stores that move many at once compare with `singleLaneMax`. */
export const laneOf = (messages: number): Lane => (messages <= singleLaneMax ? 'single' : 'bulk')
