import { DatabaseError } from 'pg'

/** Identifies the server process of a connection. Process ids are reused, but not with the same start time. */
export interface Backend {
  readonly pid: number
  /** Seconds since 1970, to the microsecond, as text. */
  readonly start: string
}

/** Error of a connection that broke after a statement was sent. The statement may have committed or may still run. */
export interface LostAnswer extends Error {
  readonly backend: Backend
}

export const lostAnswer = (backend: Backend, cause: unknown): LostAnswer =>
  Object.assign(new Error('the answer of the database was lost', { cause }), { backend })

export const isLostAnswer = (error: unknown): error is LostAnswer => error instanceof Error && 'backend' in error

export const sqlState = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.code : undefined

/** Returns true for SQLSTATE 40P01. The statement changed nothing and may be run again. */
export const isDeadlock = (error: unknown): boolean => sqlState(error) === '40P01'

/**
 * Returns true if the server reported the result of the statement, false if the connection broke, was ended (class 08,
 * 57P01 to 57P05) or timed out.
 */
export const isAnswer = (error: unknown): boolean => {
  const state = sqlState(error)
  return state !== undefined && !state.startsWith('08') && !state.startsWith('57P')
}

/** Returns true for SQLSTATE 23505 of the unique index with this name. */
export const isTaken = (error: unknown, index: string): boolean =>
  error instanceof DatabaseError && error.code === '23505' && error.constraint === index
