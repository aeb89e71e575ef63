import { sqlState } from './errors.ts'

/** Why a process cannot write: a word that does not change, and a sentence for whoever looks after it. */
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
  /** What readiness says of parts of the database, beside the reason. */
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

/** By SQLSTATE: the server is out of something, or only reads. Whatever failed with one of these did nothing. */
const reasons: Readonly<Record<string, WriteTrouble['reason']>> = {
  '25006': 'read-only',
  '53100': 'disk-full',
  '53300': 'no-connection-left',
}

/** A server that answers, and is not the one to work on. */
export class WrongServer extends Error {
  readonly reason: 'read-only' | 'old-primary' | 'other-database'

  constructor(reason: WrongServer['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** What an error says about writes in general; undefined: nothing. */
export const reasonOf = (error: unknown): WriteTrouble['reason'] | undefined =>
  error instanceof WrongServer ? error.reason : reasons[sqlState(error) ?? '']
