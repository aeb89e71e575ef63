/**
 * A store refused before anything of the call was done, and may take the same call later: nothing was charged, nothing
 * was stored (ruling 1.25). `cause` is what it said.
 */
export class NothingDoneError extends Error {
  override readonly name = 'NothingDoneError'
  /** For whoever answers errors without knowing where they come from. */
  readonly hadNoEffect = true
}
