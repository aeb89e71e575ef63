/** Where a message is among those of its run. */
export interface Place {
  readonly run: string
  readonly position: number
}

/** The carrier's ids: unique, since every run has a random name. */
export const referenceAt = (run: string, position: number): string => `${run}-${position.toString(36)}`

/** A file that somebody wrote into by hand must not make us ask for memory without end. */
const positionMax = 1 << 28

/** The place that a reference names; undefined if it is none of ours. */
export function placeOf(reference = ''): Place | undefined {
  const dash = reference.indexOf('-')
  const position = parseInt(reference.slice(dash + 1), 36)
  return dash > 0 && position >= 0 && position < positionMax ? { run: reference.slice(0, dash), position } : undefined
}

export const runOf = (reference: string): string => reference.slice(0, reference.indexOf('-'))
