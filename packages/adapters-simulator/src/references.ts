/** The position of a message in its run. */
export interface Place {
  readonly run: string
  readonly position: number
}

/** The carrier's ids: unique, since every run has a random name. */
export const referenceAt = (run: string, position: number): string => `${run}-${position.toString(36)}`

/** Bounds the memory that a manipulated record can cause. */
const positionMax = 1 << 28

/** Parses a reference; undefined if it has another form. */
export function placeOf(reference = ''): Place | undefined {
  const dash = reference.indexOf('-')
  const position = parseInt(reference.slice(dash + 1), 36)
  return dash > 0 && position >= 0 && position < positionMax ? { run: reference.slice(0, dash), position } : undefined
}

export const runOf = (reference: string): string => reference.slice(0, reference.indexOf('-'))
