import type { Lane } from '@gateway/core'

/** How the tables number the lanes. */
export const LANE = { single: 0, bulk: 1 } as const satisfies Record<Lane, number>

export const laneOfNumber = (number: number): Lane => (number === LANE.single ? 'single' : 'bulk')
