import type { DatabaseReadings } from '@gateway/adapters-postgres'
import { isConnected, type Promotion } from '@gateway/core/dispatch'
import type { RunningDispatcher, ReportedCarrier } from '@gateway/core/fleet'
import type { WebhookTotal } from '@gateway/core/webhooks'
import { counted, durationText } from '../show.ts'

/** State of the database, its disk, the certificates and the clock. */
export interface Surroundings {
  readonly database: DatabaseReadings
  /** Space in bytes; undefined if the disk belongs to another machine. */
  readonly disk: { readonly free: number; readonly all: number } | undefined
  readonly certificates: readonly { readonly of: string; readonly ends: number }[]
  /** Seconds by which the clock of this machine is ahead of the clock of the database. */
  readonly clockOffsetSeconds: number
}

export interface Readings extends Surroundings {
  /** Time of the database, in milliseconds since 1970. */
  readonly now: number
  readonly dispatchers: readonly RunningDispatcher[]
  readonly carriers: readonly ReportedCarrier[]
  readonly webhooks: readonly WebhookTotal[]
  /** Promotions with messages in doubt. */
  readonly promotions: readonly Pick<Promotion, 'inDoubt'>[]
  /** Due time of the oldest message that is due; undefined if no message is due. */
  readonly oldestDue: number | undefined
}

export interface Finding {
  readonly about: string
  readonly state: 'good' | 'warning' | 'bad'
  readonly says: string
  /** Advice to the operator. Undefined for a good finding. */
  readonly advice?: string
}

type Rule = (readings: Readings) => Finding | readonly Finding[]

const good = (about: string, says: string): Finding => ({ about, state: 'good', says })
const warning = (about: string, says: string, advice: string): Finding => ({ about, state: 'warning', says, advice })
const bad = (about: string, says: string, advice: string): Finding => ({ about, state: 'bad', says, advice })

const mebibyte = 2 ** 20
const daySeconds = 86_400
const sizeText = (bytes: number): string =>
  bytes >= 1024 * mebibyte ? `${(bytes / mebibyte / 1024).toFixed(1)} GiB` : `${Math.round(bytes / mebibyte)} MiB`
const secondsText = (seconds: number): string => durationText(seconds * 1000)

const clock: Rule = ({ clockOffsetSeconds: offset }) => {
  const says = `this machine is ${Math.abs(offset).toFixed(1)} s ${offset < 0 ? 'behind' : 'ahead of'} the database`
  if (Math.abs(offset) < 2) return good('clock', says)
  return warning('clock', says, 'synchronize both clocks by NTP; the gateway uses the clock of the database')
}

const version: Rule = ({ database }) => good('version', `PostgreSQL ${database.settings.get('server_version') ?? '?'}`)

/** A process refuses to start if these settings of the server are off, but somebody may turn them off later. */
const flushing: Rule = ({ database: { settings } }) =>
  ['fsync', 'full_page_writes'].map((name) =>
    settings.get(name) === 'on'
      ? good(name, 'on')
      : bad(name, settings.get(name) ?? 'not known', `set ${name} = on, because a crash would lose accepted messages`),
  )

const commits: Rule = ({ database: { settings, standbys } }) => {
  const [mode, names] = [settings.get('synchronous_commit'), settings.get('synchronous_standby_names') ?? '']
  if (mode === 'off')
    return bad(
      'commits',
      'synchronous_commit is off',
      'set synchronous_commit = on, because a crash would lose the messages accepted last',
    )
  if (names === '') return good('commits', `on the disk of the server (synchronous_commit = ${mode ?? '?'})`)
  if (mode === 'local')
    return bad(
      'commits',
      'commits do not wait for the standby (synchronous_commit = local)',
      'set synchronous_commit = on',
    )
  if (standbys.some(({ isSynchronous, state }) => isSynchronous && state === 'streaming'))
    return good('commits', `on the disks of the server and a standby (synchronous_standby_names = ${names})`)
  if (standbys.some(({ state }) => state === undefined))
    return warning(
      'commits',
      'the database role of the gateway cannot see the standbys',
      'grant pg_monitor to the database role of the gateway',
    )
  const advice = 'start the standby, or remove it from synchronous_standby_names'
  return bad(
    'commits',
    `commits wait for a standby that is not connected (synchronous_standby_names = ${names})`,
    advice,
  )
}

const standbyLag: Rule = ({ database: { standbys } }) =>
  standbys.length === 0
    ? good('standbys', 'no standby is connected')
    : standbys.map(({ name, state, lagBytes }) => {
        const about = `standby ${name}`
        if (state === undefined)
          return warning(
            about,
            'the database role of the gateway cannot see its state',
            'grant pg_monitor to the database role of the gateway',
          )
        const says = `${state}, ${sizeText(lagBytes ?? 0)} behind`
        if (state !== 'streaming') return warning(about, says, 'wait until it streams; otherwise see its log')
        if ((lagBytes ?? 0) > 1024 * mebibyte)
          return bad(about, says, 'its disk or network is too slow, or a long query on it blocks replay')
        return (lagBytes ?? 0) > 64 * mebibyte
          ? warning(about, says, 'check again: the lag should shrink')
          : good(about, says)
      })

const servers: Rule = ({ database }) =>
  database.servers.map(({ server, state, timeline, problem }) => {
    const about = `server ${server}`
    const says = `${state}${timeline === undefined ? '' : `, timeline ${timeline}`}`
    const primary = database.servers.find((other) => other.state === 'primary')?.server ?? 'the new primary:5432'
    const [, host = '', port = ''] = /^(.*):(.*)$/.exec(primary) ?? []
    if (state === 'away')
      return warning(
        about,
        problem === undefined ? 'not reachable' : `not reachable: ${problem}`,
        'start it, or remove it from DATABASE_URL',
      )
    if (state !== 'old-primary') return good(about, says)
    return bad(
      about,
      says,
      `stop it; then on it: pg_rewind --target-pgdata=DATA --source-server='host=${host} port=${port}' --write-recovery-conf; ` +
        'start it as a standby. Changes that only this server has are lost',
    )
  })

const wal: Rule = ({ database: { settings } }) => {
  const level = settings.get('wal_level') ?? '?'
  if (level !== 'minimal') return good('wal_level', level)
  return warning('wal_level', level, 'set wal_level = replica; standbys and point-in-time recovery need it')
}

const connections: Rule = ({ database: { settings, connections: used } }) => {
  const max = Number(settings.get('max_connections'))
  const says = `${used} of ${max} (max_connections)`
  const advice = 'end idle sessions (pg_stat_activity), or raise max_connections'
  if (used > 0.95 * max) return bad('connections', says, advice)
  return used > 0.8 * max ? warning('connections', says, advice) : good('connections', says)
}

const disk: Rule = ({ disk: found, database }) => {
  const size = `the database has ${sizeText(database.bytes)}`
  if (found === undefined) return good('disk', `${size}; the free space is only known on its server`)
  const says = `${size}; ${sizeText(found.free)} of ${sizeText(found.all)} are free`
  const advice = 'enlarge the volume, or delete other files on it; a full disk stops the gateway'
  if (found.free < 0.05 * found.all) return bad('disk', says, advice)
  return found.free < 0.2 * found.all ? warning('disk', says, advice) : good('disk', says)
}

const transactions: Rule = ({ database: { longestTransactionSeconds: longest = 0 } }) => {
  const says = longest < 1 ? 'no long transaction' : `the longest has run for ${secondsText(longest)}`
  const advice = 'end it (pg_stat_activity), because dead rows stay and tables grow meanwhile'
  if (longest >= 3600) return bad('transactions', says, advice)
  return longest >= 300 ? warning('transactions', says, advice) : good('transactions', says)
}

const partitions: Rule = ({ database: { partitionsAhead } }) =>
  partitionsAhead >= 1
    ? good('partitions', `${counted(partitionsAhead, 'partition')} ahead`)
    : bad('partitions', 'none ahead', 'see the log of a process that accepts messages')

const leases: Rule = ({ dispatchers }) => {
  const over = dispatchers.filter(({ overdue }) => overdue).length
  if (dispatchers.length === over)
    return bad('dispatchers', 'no dispatcher runs: nothing is sent', 'start a dispatcher')
  const says = `${counted(dispatchers.length - over, 'dispatcher')} with a lease`
  if (over === 0) return good('dispatchers', says)
  const advice = 'if this lasts: gateway dispatcher list, and the logs of the other dispatchers'
  return warning('dispatchers', `${says}, ${over} with an expired lease that waits for recovery`, advice)
}

const certificates: Rule = ({ certificates: all, now }) =>
  all.map(({ of, ends }) => {
    const days = Math.floor((ends - now) / 1000 / daySeconds)
    const about = `certificate ${of}`
    if (ends <= now) return bad(about, 'has expired', 'replace it')
    const says = `expires in ${counted(days, 'day')}`
    return days < 14 ? warning(about, says, 'replace it before it expires') : good(about, says)
  })

const carriers: Rule = ({ carriers: all }) => {
  const names = [...new Set(all.map(({ carrier }) => carrier))]
  return names.map((name) => {
    const about = `carrier ${name}`
    const reports = all.filter(({ carrier, isStale }) => carrier === name && !isStale)
    if (reports.length === 0)
      return bad(
        about,
        'no process has reported it for a minute',
        'gateway dispatcher list, and the logs of the dispatchers',
      )
    const pausedMode = reports.find(({ mode }) => mode !== 'running')?.mode
    if (pausedMode !== undefined)
      return warning(about, pausedMode, `gateway carrier resume ${name}, when it may continue`)
    const isUp = reports.some(({ status }) => status === undefined || isConnected(status))
    const lastError = reports.map(({ status }) => status?.lastError).find(Boolean) ?? 'no error is known'
    if (!isUp) return bad(about, `not bound: ${lastError}`, `gateway carrier show ${name}; then contact the carrier`)
    const circuits = reports.flatMap(({ status }) => status?.circuit ?? [])
    const circuit = circuits.find(({ state }) => state !== 'closed')
    if (circuit !== undefined)
      return warning(about, `circuit ${circuit.state}: ${circuit.detail ?? lastError}`, `gateway carrier show ${name}`)
    const missed = reports.reduce((sum, { status }) => sum + (status?.receipts.missed ?? 0), 0)
    if (missed > 0)
      return warning(
        about,
        `up; ${counted(missed, 'receipt')} that match no message`,
        'set the form of its message ids: docs/carriers.md',
      )
    return good(about, 'up')
  })
}

const webhooks: Rule = ({ webhooks: all }) => {
  const count = (condition: WebhookTotal['condition']): number =>
    all.filter((one) => one.condition === condition).reduce((sum, { endpoints }) => sum + endpoints, 0)
  const [failing, paused, disabled] = [count('failing'), count('paused'), count('disabled')]
  if (failing + paused + disabled === 0) return good('webhooks', `${count('active')} active, none failing`)
  const advice = 'gateway webhook list; gateway webhook attempts ID shows why'
  return warning('webhooks', `${failing} failing, ${paused} paused, ${disabled} disabled`, advice)
}

const queue: Rule = ({ oldestDue, now }) => {
  if (oldestDue === undefined) return good('queue', 'nothing is due')
  const seconds = Math.max(0, (now - oldestDue) / 1000)
  const says = `the oldest message has been due for ${secondsText(seconds)}`
  const advice = 'gateway queue show --routes, then gateway carrier list, to see which carrier does not send'
  if (seconds >= 600) return bad('queue', says, advice)
  return seconds >= 60 ? warning('queue', says, advice) : good('queue', says)
}

const doubt: Rule = ({ promotions }) => {
  if (promotions.length === 0) return good('failover', 'no message is in doubt')
  const inDoubt = promotions.reduce((sum, promotion) => sum + promotion.inDoubt, 0)
  const says = `${counted(inDoubt, 'message')} in doubt: a standby was promoted that may lack the last changes of the lost server`
  return bad('failover', says, 'gateway failover status, then gateway failover resume')
}

const rules: readonly Rule[] = [
  ...[clock, version, flushing, commits, standbyLag, servers, wal, connections, disk, transactions, partitions],
  ...[leases, doubt, queue, carriers, webhooks, certificates],
]

/** Returns the findings for an operator: about the database first, then the processes, then carriers and webhooks. */
export const findings = (readings: Readings): readonly Finding[] => rules.flatMap((rule) => rule(readings))
