import { setFlagsFromString } from 'node:v8'

/**
 * From now on the heap of this process grows by at most half of what was alive before it is collected again, instead of by up to three
 * times as much (docs/decisions/0069-little-garbage-waits.md).
 */
export const boundGarbage = (): void => setFlagsFromString('--heap-growing-percent=50')
