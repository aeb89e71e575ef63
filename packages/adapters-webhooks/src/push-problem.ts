import type { PushFailure } from '@gateway/core'

/** Why a connection did not come about. */
export class PushProblem extends Error {
  readonly failure: PushFailure
  readonly code = 'ERR_PUSH'
  constructor(failure: PushFailure, cause?: unknown) {
    super(failure, { cause })
    this.failure = failure
  }
}
