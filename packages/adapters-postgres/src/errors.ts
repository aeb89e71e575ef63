import { DatabaseError } from 'pg'

/** Names one connection's process in the server for ever: process ids are used again, but not with the same start. */
export interface Backend {
  readonly pid: number
  /** Seconds since 1970, to the microsecond, as text. */
  readonly start: string
}

/** The connection broke after a statement had been sent: it may have happened, or still be at work. */
export interface LostAnswer extends Error {
  readonly backend: Backend
}

export const lostAnswer = (backend: Backend, cause: unknown): LostAnswer =>
  Object.assign(new Error('the answer of the database was lost', { cause }), { backend })

export const isLostAnswer = (error: unknown): error is LostAnswer => error instanceof Error && 'backend' in error

export const sqlState = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.code : undefined

/** SQLSTATE 40P01: nothing was done, and the same again will do. */
export const isDeadlock = (error: unknown): boolean => sqlState(error) === '40P01'

/**
 * Whether the server said what became of the statement. Not when the connection broke or was ended (class 08, 57P01 to
 * 57P05), nor when nothing came in time.
 */
export const isAnswer = (error: unknown): boolean => {
  const state = sqlState(error)
  return state !== undefined && !state.startsWith('08') && !state.startsWith('57P')
}

/** SQLSTATE 23505: the unique index of this name has such a row already. */
export const isTaken = (error: unknown, index: string): boolean =>
  error instanceof DatabaseError && error.code === '23505' && error.constraint === index
