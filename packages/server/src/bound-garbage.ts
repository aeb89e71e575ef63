import { setFlagsFromString } from 'node:v8'

/**
 * From now on the heap of this process is collected when it has grown by so many percent of what was alive the last time. V8 waits for up to
 * 300 (docs/decisions/0069-little-garbage-waits.md).
 */
export const boundGarbage = (percent: number): void => setFlagsFromString(`--heap-growing-percent=${percent}`)
