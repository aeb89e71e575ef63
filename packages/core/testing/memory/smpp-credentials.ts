import type { AccountId } from '@gateway/core/accounts'
import {
  silentProcessSeconds,
  smppCredentialId,
  type BindMode,
  type NewBind,
  type NewSmppCredential,
  type ReportAnswer,
  type ShownBind,
  type SmppBinds,
  type SmppCredential,
  type SmppCredentialId,
  type SmppCredentials,
  type SmppLogin,
  type SmppProcessId,
} from '@gateway/core/smpp-customers'
import { secondsAfter, type Instant } from '@gateway/core/time'
import { atomic } from './atomic.ts'
import type { SmppBindRow, SmppCredentialRow } from './rows.ts'
import type { MemoryStore } from './store.ts'

export const memorySmppCredentials = (store: MemoryStore): SmppCredentials => ({
  add: atomic((credential, now) => add(store, credential, now)),
  list: atomic((account) =>
    [...store.smppCredentials.values()]
      .map(({ credential }) => credential)
      .filter((credential) => account === undefined || credential.account === account),
  ),
  find: atomic((account, id) => rowOf(store, account, id)?.credential),
  change: atomic((account, id, settings) => {
    const row = rowOf(store, account, id)
    const changed = Object.entries(settings).filter(([name, value]) => value !== undefined || name === 'country')
    if (row !== undefined) row.credential = { ...row.credential, ...Object.fromEntries(changed) }
    return row?.credential
  }),
  rotate: atomic((account, id, password, now) => {
    const row = rowOf(store, account, id)
    if (row === undefined) return undefined
    row.password = password
    row.credential = { ...row.credential, rotated: now }
    closeBindsOf(store, id)
    return row.credential
  }),
  remove: atomic((account, id) => {
    const row = rowOf(store, account, id)
    if (row === undefined) return false
    store.smppCredentials.delete(id)
    closeBindsOf(store, id)
    const { account: owner } = row.credential
    if (![...store.smppCredentials.values()].some(({ credential }) => credential.account === owner))
      store.repliesBy.delete(owner)
    return true
  }),
  session: atomic((id) => {
    const login = loginOf(store, store.smppCredentials.get(id))
    return login && { account: login.account, credential: login.credential }
  }),
  bySystemId: atomic((systemId) => bySystemId(store, systemId)),
  readSystemId: atomic((systemId) => bySystemId(store, systemId)),
  repliesBy: atomic((account) => store.repliesBy.get(account) ?? 'webhook'),
  setRepliesBy: atomic((account, by) => {
    const isKnown = store.repliesBy.has(account)
    if (isKnown) store.repliesBy.set(account, by)
    return isKnown
  }),
})

function add(
  store: MemoryStore,
  { password, ...fields }: NewSmppCredential,
  now: Instant,
): SmppCredential | 'no-such-account' | 'system-id-taken' {
  if (!store.accounts.has(fields.account)) return 'no-such-account'
  if (rowBySystemId(store, fields.systemId) !== undefined) return 'system-id-taken'
  const id = smppCredentialId(store.next('smpp-credential'))
  if (id === undefined) throw new Error('no credential id is left')
  const credential: SmppCredential = { ...fields, id, created: now, rotated: undefined }
  store.smppCredentials.set(id, { credential, password })
  const isSubscribed = [...store.webhooks.values()].some(
    ({ webhook }) => webhook.account === fields.account && webhook.events.some((type) => type.endsWith('.received')),
  )
  if (!store.repliesBy.has(fields.account)) store.repliesBy.set(fields.account, isSubscribed ? 'webhook' : 'smpp')
  return credential
}

function rowOf(
  store: MemoryStore,
  account: AccountId | undefined,
  id: SmppCredentialId,
): SmppCredentialRow | undefined {
  const row = store.smppCredentials.get(id)
  return account === undefined || row?.credential.account === account ? row : undefined
}

const rowBySystemId = (store: MemoryStore, systemId: string): SmppCredentialRow | undefined =>
  [...store.smppCredentials.values()].find(
    ({ credential }) => credential.systemId.toLowerCase() === systemId.toLowerCase(),
  )

const bySystemId = (store: MemoryStore, systemId: string) => loginOf(store, rowBySystemId(store, systemId))

function loginOf(store: MemoryStore, row: SmppCredentialRow | undefined): SmppLogin | undefined {
  const account = row && store.accounts.get(row.credential.account)?.account
  return row && account && { account, credential: row.credential, password: row.password }
}

function closeBindsOf(store: MemoryStore, credential: SmppCredentialId): void {
  for (const [id, row] of store.smppBinds) if (row.credential === credential) store.smppBinds.delete(id)
}

export const memorySmppBinds = (store: MemoryStore): SmppBinds => ({
  open: atomic((credential, bind) => {
    const limit = store.smppCredentials.get(credential)?.credential.binds
    if (limit === undefined) return 'no-such-credential'
    store.smppProcesses.set(bind.process, store.clock.now())
    const others = liveBinds(store).filter((row) => row.credential === credential)
    const isFull = [transmits, receives].some(
      (does) => does(bind.mode) && others.filter((row) => does(row.bind.mode)).length >= limit,
    )
    if (isFull) {
      for (const row of others) row.probe = true
      return { busy: others.length }
    }
    const report = { id: bind.id, strayTexts: 0, submissions: 0 }
    store.smppBinds.set(bind.id, { bind, credential, since: store.clock.now(), report, probe: false })
    return 'opened'
  }),
  close: atomic((process, binds) => {
    for (const id of binds) if (store.smppBinds.get(id)?.bind.process === process) store.smppBinds.delete(id)
  }),
  report: atomic((process, binds) => {
    store.smppProcesses.set(process, store.clock.now())
    const own = new Map([...store.smppBinds].filter(([, { bind }]) => bind.process === process))
    const reported = new Map(binds.map((report) => [report.id, report]))
    for (const id of own.keys()) if (!reported.has(id)) store.smppBinds.delete(id)
    const open = [...own].filter(([id]) => reported.has(id)).map(([, row]) => row)
    const probe = open.filter((row) => row.probe).map(({ bind }) => bind.id)
    for (const row of open) Object.assign(row, { report: reported.get(row.bind.id) ?? row.report, probe: false })
    const close = binds.filter(({ id }) => !own.has(id)).map(({ id }) => id)
    return { rates: ratesOf(store, process), close, probe }
  }),
  list: atomic((account) =>
    liveBinds(store)
      .flatMap((row) => shownBind(store, row))
      .filter((bind) => account === undefined || bind.account === account)
      .sort((a, b) => a.account - b.account || a.credential - b.credential || a.since - b.since),
  ),
})

export const transmits = (mode: BindMode): boolean => mode !== 'receiver'
export const receives = (mode: BindMode): boolean => mode !== 'transmitter'

/** Returns the binds of processes that have reported in time. */
export function liveBinds(store: MemoryStore): readonly SmppBindRow[] {
  const since = secondsAfter(store.clock.now(), -silentProcessSeconds)
  const isLive = ({ process }: NewBind) => (store.smppProcesses.get(process) ?? 0) >= since
  return [...store.smppBinds.values()].filter(({ bind }) => isLive(bind))
}

function ratesOf(store: MemoryStore, process: SmppProcessId): ReportAnswer['rates'] {
  const transmitting = liveBinds(store).filter(({ bind }) => transmits(bind.mode))
  const own = transmitting.filter(({ bind }) => bind.process === process)
  return [...new Set(own.map(({ credential }) => credential))].flatMap((credential) => {
    const count = (rows: readonly SmppBindRow[]) => rows.filter((row) => row.credential === credential).length
    const perSecond = store.smppCredentials.get(credential)?.credential.perSecond
    return perSecond === undefined ? [] : [{ credential, perSecond: (perSecond * count(own)) / count(transmitting) }]
  })
}

function shownBind(store: MemoryStore, { bind, credential, since, report }: SmppBindRow): readonly ShownBind[] {
  const found = store.smppCredentials.get(credential)?.credential
  return found === undefined
    ? []
    : [{ ...bind, ...report, credential, since, account: found.account, systemId: found.systemId }]
}
