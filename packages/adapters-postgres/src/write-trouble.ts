import { sqlState } from './errors.ts'

/** Reason for which a process cannot write: a stable word, and a sentence for the operator. */
export interface WriteTrouble {
  readonly reason:
    | 'no-answer'
    | 'no-connection-left'
    | 'read-only'
    | 'old-primary'
    | 'other-database'
    | 'disk-full'
    | 'standby-away'
    | 'refused'
  readonly message: string
  /** States of parts of the database that readiness reports beside the reason. */
  readonly states?: { readonly commits: string }
}

const messages: Readonly<Record<WriteTrouble['reason'], string>> = {
  'no-answer': 'The database does not answer to a write.',
  'no-connection-left':
    'The database has no connection left for this process (max_connections, or a limit of its role).',
  'read-only':
    'The database only reads: it is a standby that was not promoted, or default_transaction_read_only is on.',
  'old-primary': 'The database is a primary that was replaced by another server: it may not be written to.',
  'other-database': 'The database is another one than before, with another system identifier.',
  'disk-full': 'The disk of the database is full.',
  'standby-away': 'Commits wait for a synchronous standby that does not confirm them (synchronous_standby_names).',
  refused: 'The database refuses to write; the log says why.',
}

export const writeTrouble = (reason: WriteTrouble['reason']): WriteTrouble => ({
  reason,
  message: messages[reason],
  ...(reason === 'standby-away' && { states: { commits: 'waiting for a standby' } }),
})

/** Reasons by SQLSTATE. A statement that failed with one of these changed nothing. */
const reasons: Readonly<Record<string, WriteTrouble['reason']>> = {
  '25006': 'read-only',
  '53100': 'disk-full',
  '53300': 'no-connection-left',
}

/** Error of a server that answers but must not be used. */
export class WrongServer extends Error {
  readonly reason: 'read-only' | 'old-primary' | 'other-database'

  constructor(reason: WrongServer['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** Returns the reason for which writes in general fail, or undefined if the error has no such meaning. */
export const reasonOf = (error: unknown): WriteTrouble['reason'] | undefined =>
  error instanceof WrongServer ? error.reason : reasons[sqlState(error) ?? '']
