/**
 * Error of a store that refused a call before it changed anything: no credit was charged and no row was stored, so the
 * call may be repeated (ruling 1.25). `cause` is the error of the database.
 */
export class NothingDoneError extends Error {
  override readonly name = 'NothingDoneError'
  /** Read by error handlers that do not know this class. */
  readonly hadNoEffect = true
}
