import type { SecondFactors } from '@gateway/core/people'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export function memorySecondFactors(store: MemoryStore): SecondFactors {
  const { secondFactors, secondFactorRequired, accounts, clock } = store
  return {
    find: atomic((of) => {
      const row = secondFactors.get(of)
      return row && { secret: row.secret, since: row.since, recoveryCodes: row.recoveryCodes.size }
    }),
    set: atomic((of, secret, step, recoveryCodes) => {
      if (secondFactors.has(of)) return false
      secondFactors.set(of, { secret, since: clock.now(), step, recoveryCodes: new Set(recoveryCodes) })
      return true
    }),
    useStep: atomic((of, step) => {
      const row = secondFactors.get(of)
      if (row === undefined || row.step >= step) return false
      row.step = step
      return true
    }),
    useRecoveryCode: atomic((of, hash) => secondFactors.get(of)?.recoveryCodes.delete(hash) ?? false),
    replaceRecoveryCodes: atomic((of, hashes) => {
      const row = secondFactors.get(of)
      if (row !== undefined) row.recoveryCodes = new Set(hashes)
      return row !== undefined
    }),
    remove: atomic((of) => secondFactors.delete(of)),
    setRequired: atomic((account, isRequired) => {
      if (!accounts.has(account)) return false
      if (isRequired) secondFactorRequired.add(account)
      else secondFactorRequired.delete(account)
      return true
    }),
    isRequired: atomic((account) => secondFactorRequired.has(account)),
    lastSecret: atomic(() => [...secondFactors.values()].at(-1)?.secret),
    resealSecrets: atomic((change) => {
      const changed = [...secondFactors.values()]
        .map((row) => ({ row, secret: change(row.secret) }))
        .filter(({ row, secret }) => row.secret !== secret)
      for (const { row, secret } of changed) row.secret = secret
      return changed.length
    }),
  }
}
