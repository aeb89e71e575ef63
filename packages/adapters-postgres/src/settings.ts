/** What an operator may change; every process of the gateway may have its own. */
export interface Settings {
  /** A statement that takes longer is ended by the server, and a second later given up. */
  readonly statementSeconds: number
  /** As statementSeconds, for what reads or sums whole tables. */
  readonly longStatementSeconds: number
  /** A statement waits at most so long for a lock. */
  readonly lockSeconds: number
  /** So long for a connection: to be free, or to be made. */
  readonly connectionSeconds: number
  /** After the answer to an accept was lost: so long for finding out what became of it. */
  readonly lookUpSeconds: number
  /**
   * After the answer to a statement was lost that may be run again: so long that is done. From then on the database is
   * not broken but away.
   */
  readonly retrySeconds: number
  /** Connections for the statements that every message needs, of each process. */
  readonly hotConnectionsMax: number
  /** Connections for everything else, of each process. */
  readonly ordinaryConnectionsMax: number
  /** Orders that may wait to be accepted; the next one is answered 'overloaded'. */
  readonly waitingOrdersMax: number
  /** As waitingOrdersMax, counting recipients. */
  readonly waitingRecipientsMax: number
  /**
   * So long may a process remember accounts, keys and prices that another has changed; at most 4. 0: it remembers
   * nothing.
   */
  readonly cacheSeconds: number
  /** Accounts and keys that a process remembers. */
  readonly cachedAccountsMax: number
  /**
   * Where message ids come from: a block of 10,000 of the process's own, or, for a command that ends soon, a shared
   * one.
   */
  readonly ids: 'own-block' | 'shared-block'
}

export const defaultSettings: Settings = {
  statementSeconds: 10,
  longStatementSeconds: 120,
  lockSeconds: 5,
  connectionSeconds: 2,
  lookUpSeconds: 5,
  retrySeconds: 15,
  hotConnectionsMax: 8,
  ordinaryConnectionsMax: 4,
  waitingOrdersMax: 2000,
  waitingRecipientsMax: 200_000,
  cacheSeconds: 4,
  cachedAccountsMax: 10_000,
  ids: 'own-block',
}

/** Where an adapter tells its operator what it met; a pino logger is one. */
export interface Log {
  info(text: string): void
  warn(text: string): void
}

export const silent: Log = { info: () => undefined, warn: () => undefined }
