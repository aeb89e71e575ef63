import { outcomeCode, type OutcomeCode } from '@gateway/core'

/** The outcome that a message row has. Throws where it is none. */
export function knownCode(code: number): OutcomeCode {
  const outcome = outcomeCode(code)
  if (outcome === undefined) throw new Error(`a message has the code ${code}`)
  return outcome
}
