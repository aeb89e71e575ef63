/** Its channel belongs to one table, so that gateways in several schemas of a database do not wake each other. */
const channel = `'gateway_due_' || 'idle_dispatcher'::regclass::oid`

/** Tells what channel to listen on. */
export const channelOfIdle = `select ${channel} as channel`

/**
 * An expression for a statement that makes work due or schedules some: tells those that sleep, when it commits. Evaluated at most once, and
 * only if a row is returned. Where nobody sleeps it reads an empty table.
 */
export const wakeIdle = `(select pg_notify(${channel}, '') from idle_dispatcher where until > now() limit 1)`
