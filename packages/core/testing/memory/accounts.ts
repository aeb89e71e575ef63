import {
  accountId,
  isValid,
  keyId,
  loginKey,
  parentRefusal,
  reportedRatesMax,
  type Account,
  type AccountChange,
  type AccountId,
  type AccountRate,
  type AccountRates,
  type Accounts,
  type ChangeRefusal,
  type KeyId,
  type OpenedAccount,
  type OpenRefusal,
} from '@gateway/core/accounts'
import type { Login, LoginFailures } from '@gateway/core/people'
import { secondsAfter, type Instant } from '@gateway/core/time'
import { withoutSettings } from '../builders.ts'
import { useRate } from '../contracts/specification/accounts.ts'
import { atomic } from './atomic.ts'
import type { AccountRow, KeyRow } from './rows.ts'
import type { MemoryStore } from './store.ts'

export const memoryAccounts = (store: MemoryStore): Accounts => ({
  byKey: atomic((hash, now, comesFrom) => {
    const key = store.keysByHash.get(hash)?.key
    return key === undefined || !isValid(key, now, comesFrom) ? undefined : store.accounts.get(key.account)?.account
  }),
  byLogin: atomic((login) => byLogin(store, login)),
  readLogin: atomic((login) => byLogin(store, login)),
  find: atomic((id) => {
    const row = store.accounts.get(id)
    return row && { account: row.account, balance: row.balance }
  }),
  list: (after) => listed(store, after),
  search: atomic((part, { after = 0 as AccountId, limit }) =>
    [...store.accounts.values()]
      .filter(({ account }) => account.id > after && searchedTexts(store, account).some((text) => has(text, part)))
      .slice(0, limit)
      .map(({ account, balance }) => ({ account, balance })),
  ),
  logins: atomic(
    (ids) =>
      new Map(
        ids.flatMap((id) => {
          const login = store.accounts.get(id)?.account.login
          return login === undefined ? [] : [[id, login] as const]
        }),
      ),
  ),
  subAccounts: atomic((main) =>
    [...store.accounts.values()]
      .filter(({ account }) => account.parent === main)
      .map(({ account, balance }) => ({ account, balance })),
  ),
  open: atomic((opened, now) => open(store, opened, now)),
  change: atomic((id, changes) => changeDirectory(store, id, changes)),
  setLocked: atomic((id, locked) => {
    for (const [hash, { session }] of store.sessions) if (locked && session.account === id) store.sessions.delete(hash)
    return change(store, id, (row) => (row.account = { ...row.account, locked }))
  }),
  setPassword: atomic((id, password) => change(store, id, (row) => (row.password = password))),
  issueKey: atomic((id, { hash, ...shown }, now, operation) => {
    const row = store.accounts.get(id)
    if (operation !== undefined && row !== undefined) {
      if (store.keyOperations.has(operation)) return 'repeated'
      store.keyOperations.add(operation)
    }
    return row && addKey(store, row, { hash, key: { ...shown, id: newKeyId(store), ...issuedTo(row.account, now) } })
  }),
  keys: atomic((id) => store.accounts.get(id)?.keys.map(({ key }) => key) ?? []),
  setKeyFrom: atomic((id, from) => {
    const row = store.keys.get(id)
    if (row !== undefined) row.key = { ...row.key, from }
    return row !== undefined
  }),
  revokeKey: atomic((id, now) => {
    const row = store.keys.get(id)
    if (row !== undefined) row.key = { ...row.key, revoked: row.key.revoked ?? now }
    return row !== undefined
  }),
})

const searchedTexts = ({ users }: MemoryStore, { id, login, firstName, surname, trial, shortCodes }: Account) => [
  ...[login, `${firstName} ${surname}`, trial?.ownNumber ?? '', ...shortCodes],
  ...[...users.values()].flatMap(({ user }) => (user.account === id ? [user.email] : [])),
]

const has = (text: string, part: string): boolean => inLowerCase(text).includes(inLowerCase(part))
const inLowerCase = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

// oxlint-disable-next-line typescript/require-await -- the port returns an async iterable
async function* listed(store: MemoryStore, after = 0) {
  for (const { account, balance } of store.accounts.values()) if (account.id > after) yield { account, balance }
}

function byLogin(store: MemoryStore, login: string): Login | undefined {
  const row = store.logins.get(loginKey(login) ?? '')
  return row && { account: row.account, password: row.password }
}

function open(store: MemoryStore, opened: OpenedAccount, now: Instant): AccountId | OpenRefusal {
  const login = opened.account.login.toLowerCase()
  if (store.logins.has(login)) return 'login-taken'
  const { parent } = opened.account
  const refusal = parent === undefined ? undefined : parentRefusal(store.accounts.get(parent)?.account)
  if (refusal !== undefined) return refusal
  if (opened.credits < 0) throw new RangeError('an account cannot be opened with a debt')

  const id = newAccountId(store)
  const account = { ...opened.account, ...withoutSettings, id, locked: false, shortCodes: [] }
  const row: AccountRow = { account, password: opened.password, balance: opened.credits, entries: [], keys: [] }
  row.entries.push({ amount: opened.credits, cause: { kind: 'top-up', why: 'opened' }, at: now })
  store.accounts.set(id, row)
  store.logins.set(login, row)
  return id
}

function newAccountId(store: MemoryStore): AccountId {
  const id = accountId(store.next('account'))
  if (id === undefined) throw new Error('no account id is left')
  return id
}

function newKeyId(store: MemoryStore): KeyId {
  const id = keyId(store.next('key'))
  if (id === undefined) throw new Error('no key id is left')
  return id
}

const issuedTo = (account: Account, now: Instant) => ({ account: account.id, issued: now, revoked: undefined })

function addKey(store: MemoryStore, account: AccountRow, row: KeyRow): KeyId {
  if (store.keysByHash.has(row.hash)) throw new Error('this key has been issued before')
  account.keys.push(row)
  store.keys.set(row.key.id, row)
  store.keysByHash.set(row.hash, row)
  return row.key.id
}

function changeDirectory(store: MemoryStore, id: AccountId, changes: AccountChange): 'changed' | ChangeRefusal {
  const row = store.accounts.get(id)
  if (row === undefined) return 'no-such-account'
  const { login = row.account.login, firstName, surname, trial, transactional, from } = changes
  const { requestsPerSecond, recipientsPerSecond, callingCode } = changes
  const holder = store.logins.get(login.toLowerCase())
  if (holder !== undefined && holder !== row) return 'login-taken'
  store.logins.delete(row.account.login.toLowerCase())
  store.logins.set(login.toLowerCase(), row)
  row.account = {
    ...row.account,
    login,
    firstName: firstName ?? row.account.firstName,
    surname: surname ?? row.account.surname,
    trial: trial === undefined ? row.account.trial : (trial ?? undefined),
    transactional: transactional ?? row.account.transactional,
    from: from ?? row.account.from,
    requestsPerSecond: changed(requestsPerSecond, row.account.requestsPerSecond),
    recipientsPerSecond: changed(recipientsPerSecond, row.account.recipientsPerSecond),
    callingCode: changed(callingCode, row.account.callingCode),
  }
  return 'changed'
}

/** Returns the value after a change, in which null removes it. */
const changed = <Value>(value: Value | null | undefined, before: Value | undefined): Value | undefined =>
  value === undefined ? before : (value ?? undefined)

/** Changes an account; returns false if there is none. */
function change(store: MemoryStore, id: AccountId, set: (row: AccountRow) => void): boolean {
  const row = store.accounts.get(id)
  if (row !== undefined) set(row)
  return row !== undefined
}

const forgottenMilliseconds = 60_000

export const memoryAccountRates = ({ clock, accountRates, usedRates }: MemoryStore): AccountRates => ({
  take: atomic((account, limit, count, perSecond) => {
    const key = `${account} ${limit}`
    const next = useRate(usedRates.get(key), count, perSecond, clock.now())
    if (!('paidOff' in next)) return next
    usedRates.set(key, next.paidOff)
    return 'taken'
  }),
  report: atomic((by, rates) => {
    const now = clock.now()
    for (const [process, { at }] of accountRates) if (now - at > forgottenMilliseconds) accountRates.delete(process)
    accountRates.set(by, { at: now, rates: rates.slice(0, reportedRatesMax) })
  }),
  list: atomic((seconds) => {
    const now = clock.now()
    const sums = new Map<AccountId, AccountRate>()
    for (const { at, rates } of accountRates.values())
      for (const { account, requests, messages } of now - at < seconds * 1000 ? rates : []) {
        const sum = sums.get(account) ?? { requests: 0, messages: 0 }
        sums.set(account, { account, requests: sum.requests + requests, messages: sum.messages + messages })
      }
    return [...sums.values()].sort(
      (a, b) => b.requests - a.requests || b.messages - a.messages || a.account - b.account,
    )
  }),
})

export const memoryLoginFailures = ({ clock, loginFailures }: MemoryStore): LoginFailures => ({
  count: atomic((key, { failuresMax, seconds }) => {
    const now = clock.now()
    const counted = () =>
      loginFailures
        .filter((failure) => failure.key === key && failure.until > now)
        .map(({ until }) => until)
        .sort((a, b) => a - b)
        .slice(-failuresMax)
    const isWithinLimit = counted().length < failuresMax
    if (isWithinLimit) loginFailures.push({ key, until: secondsAfter(now, seconds) })
    const all = counted()
    return { isWithinLimit, waitSeconds: all.length < failuresMax ? 0 : ((all[0] ?? now) - now) / 1000 }
  }),
})
