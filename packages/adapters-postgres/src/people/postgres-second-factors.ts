import type { FactorOwner, SecondFactors } from '@gateway/core/people'
import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { hasRow } from '../query-parts.ts'
import { listFactorSecrets, replaceFactorSecrets } from '../sql/second-factors.ts'

/** Uses the ordinary connections, because people sign in rarely. */
export function postgresSecondFactors({ pools: { kysely, ordinary } }: Context): SecondFactors {
  const update = (owner: FactorOwner) =>
    kysely.updateTable('second_factor').where('owner', '=', owner).returning('owner')

  return {
    find: (owner) =>
      kysely
        .selectFrom('second_factor')
        .select(['secret', 'since', sql<number>`cardinality(recovery_codes)`.as('recoveryCodes')])
        .where('owner', '=', owner)
        .executeTakeFirst(),
    set: (owner, secret, step, recovery_codes) =>
      hasRow(
        kysely
          .insertInto('second_factor')
          .values({ owner, secret, step, recovery_codes })
          .onConflict((conflict) => conflict.doNothing())
          .returning('owner'),
      ),
    useStep: (owner, step) => hasRow(update(owner).set({ step }).where('step', '<', step)),
    /**
     * Removes the hash. If two calls run concurrently, the second one waits for the row and then finds it without the
     * hash.
     */
    useRecoveryCode: (owner, hash) =>
      hasRow(
        update(owner)
          .set({ recovery_codes: sql<string[]>`array_remove(recovery_codes, ${hash})` })
          .where(sql<boolean>`${hash} = any (recovery_codes)`),
      ),
    replaceRecoveryCodes: (owner, recovery_codes) => hasRow(update(owner).set({ recovery_codes })),
    remove: (owner) => hasRow(kysely.deleteFrom('second_factor').where('owner', '=', owner).returning('owner')),
    setRequired: (account, isRequired) =>
      hasRow(
        kysely
          .updateTable('directory')
          .set({ second_factor_required: isRequired })
          .where('account_id', '=', account)
          .returning('account_id'),
      ),
    async isRequired(account) {
      const row = await kysely
        .selectFrom('directory')
        .select('second_factor_required')
        .where('account_id', '=', account)
        .executeTakeFirst()
      return row?.second_factor_required ?? false
    },
    async lastSecret() {
      const newest = kysely
        .selectFrom('second_factor')
        .select('secret')
        .orderBy('since', 'desc')
        .orderBy('owner', 'desc')
      return (await newest.limit(1).executeTakeFirst())?.secret
    },
    async resealSecrets(change) {
      const changed = (await ordinary.run(listFactorSecrets, {}))
        .map(({ owner, secret }) => ({ owner, before: secret, secret: change(secret) }))
        .filter(({ before, secret }) => before !== secret)
      if (changed.length === 0) return 0
      const rows = await ordinary.run(replaceFactorSecrets, {
        owners: changed.map(({ owner }) => owner),
        before: changed.map(({ before }) => before),
        secrets: changed.map(({ secret }) => secret),
      })
      return rows.length
    },
  }
}
