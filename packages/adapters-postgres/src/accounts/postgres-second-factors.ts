import { instant, type SealedSecret, type SecondFactors } from '@gateway/core'
import type { Context } from '../context.ts'
import {
  findSecondFactor,
  isSecondFactorRequired,
  listFactorSecrets,
  removeSecondFactor,
  replaceFactorSecrets,
  replaceRecoveryCodes,
  requireSecondFactor,
  setSecondFactor,
  useRecoveryCode,
  useTimeStep,
} from '../sql/second-factors.ts'

/** On the ordinary connections: people ask seldom. */
export const postgresSecondFactors = ({ pools: { ordinary } }: Context): SecondFactors => ({
  async find(owner) {
    const [row] = await ordinary.run(findSecondFactor, { owner })
    return row && { secret: row.secret as SealedSecret, since: instant(row.since), recoveryCodes: row.codes }
  },
  set: async (owner, secret, step, codes) =>
    (await ordinary.run(setSecondFactor, { owner, secret, step, codes })).length > 0,
  useStep: async (owner, step) => (await ordinary.run(useTimeStep, { owner, step })).length > 0,
  useRecoveryCode: async (owner, hash) => (await ordinary.run(useRecoveryCode, { owner, hash })).length > 0,
  replaceRecoveryCodes: async (owner, codes) => (await ordinary.run(replaceRecoveryCodes, { owner, codes })).length > 0,
  remove: async (owner) => (await ordinary.run(removeSecondFactor, { owner })).length > 0,
  setRequired: async (account, required) => (await ordinary.run(requireSecondFactor, { account, required })).length > 0,
  isRequired: async (account) => (await ordinary.run(isSecondFactorRequired, { account }))[0]?.required ?? false,
  lastSecret: async () => (await ordinary.run(listFactorSecrets, {})).at(-1)?.secret as SealedSecret | undefined,
  async resealSecrets(change) {
    const changed = (await ordinary.run(listFactorSecrets, {}))
      .map(({ owner, secret }) => ({ owner, before: secret, secret: change(secret as SealedSecret) }))
      .filter(({ before, secret }) => before !== secret)
    if (changed.length === 0) return 0
    const column = (name: 'owner' | 'before' | 'secret') => changed.map((row) => row[name])
    const values = { owners: column('owner'), before: column('before'), secrets: column('secret') }
    return (await ordinary.run(replaceFactorSecrets, values)).length
  },
})
