/** Settings that an operator may change, for each process of the gateway. */
export interface Settings {
  /** Time after which the server cancels a statement; the gateway stops waiting a second later. */
  readonly statementSeconds: number
  /** Same limit as `statementSeconds`, but for statements that read whole tables. */
  readonly longStatementSeconds: number
  /** Longest wait of a statement for a lock. */
  readonly lockSeconds: number
  /** Longest wait for a connection to become free or to be made. */
  readonly connectionSeconds: number
  /** Time for finding out whether a change was committed, after the connection broke before the answer. */
  readonly lookUpSeconds: number
  /** Time for which an idempotent statement is run again after a connection broke. After that, it fails. */
  readonly retrySeconds: number
  /** Maximum number of connections of a process for the statements that every message needs. */
  readonly hotConnectionsMax: number
  /** Maximum number of connections of a process for everything else. */
  readonly ordinaryConnectionsMax: number
  /** Maximum number of orders that wait to be accepted. Further orders get the answer 'overloaded'. */
  readonly waitingOrdersMax: number
  /** Maximum number of recipients in waiting orders. Beyond it, further orders get the answer 'overloaded'. */
  readonly waitingRecipientsMax: number
  /**
   * Seconds for which accounts, keys and prices are cached after another process changed them; at most 4. 0 turns the
   * cache off.
   */
  readonly cacheSeconds: number
  /** Maximum number of cached accounts, and of cached keys. */
  readonly cachedAccountsMax: number
  /** Source of message ids: a block of 10,000 ids that only this process uses, or a block that short commands share. */
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

/** Log of an adapter, for the operator. A pino logger is one. */
export interface Log {
  info(text: string): void
  warn(text: string): void
}

export const silent: Log = { info: () => undefined, warn: () => undefined }
