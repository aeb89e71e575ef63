import { milliseconds } from './arrays.ts'
import { rows, sql, statement } from './statement.ts'

// These statements are for the ordinary connections.

const owner = rows<{ readonly owner: string }>({ owner: 'text' })

export const findSecondFactor = statement(
  'find-second-factor',
  { parameters: { owner: 'text' }, columns: { secret: 'text', since: 'bigint', codes: 'int' } },
  sql`
select secret, ${milliseconds('since')} as since, cardinality(recovery_codes) as codes
from second_factor
where owner = :owner`,
)

export const setSecondFactor = statement(
  'set-second-factor',
  { parameters: { owner: 'text', secret: 'text', step: 'bigint', codes: 'text[]' }, columns: owner },
  sql`
insert into second_factor (owner, secret, step, recovery_codes) values (:owner, :secret, :step, :codes)
on conflict do nothing
returning owner`,
)

/** Uses a time step. Returns no row if this step or a later one was used before. */
export const useTimeStep = statement(
  'use-time-step',
  { parameters: { owner: 'text', step: 'bigint' }, columns: owner },
  sql`update second_factor set step = :step where owner = :owner and step < :step returning owner`,
)

/**
 * Uses a recovery code by removing its hash. Returns no row if it was used before: of two concurrent calls the second
 * waits for the row and finds it without the hash.
 */
export const useRecoveryCode = statement(
  'use-recovery-code',
  { parameters: { owner: 'text', hash: 'text' }, columns: owner },
  sql`
update second_factor set recovery_codes = array_remove(recovery_codes, :hash)
where owner = :owner and :hash = any (recovery_codes)
returning owner`,
)

export const replaceRecoveryCodes = statement(
  'replace-recovery-codes',
  { parameters: { owner: 'text', codes: 'text[]' }, columns: owner },
  sql`update second_factor set recovery_codes = :codes where owner = :owner returning owner`,
)

export const removeSecondFactor = statement(
  'remove-second-factor',
  { parameters: { owner: 'text' }, columns: owner },
  sql`delete from second_factor where owner = :owner returning owner`,
)

export const requireSecondFactor = statement(
  'require-second-factor',
  { parameters: { account: 'int', required: 'bool' }, columns: { account: 'int' } },
  sql`
update directory set second_factor_required = :required where account_id = :account returning account_id as account`,
)

export const isSecondFactorRequired = statement(
  'is-second-factor-required',
  { parameters: { account: 'int' }, columns: { required: 'bool' } },
  sql`select second_factor_required as required from directory where account_id = :account`,
)

/** Lists the secrets, in the order in which they were set. */
export const listFactorSecrets = statement(
  'list-factor-secrets',
  { parameters: {}, columns: { owner: 'text', secret: 'text' } },
  sql`select owner, secret from second_factor order by since, owner`,
)

/** Replaces secrets. Returns the owners whose secret was still `before`; the others do not change. */
export const replaceFactorSecrets = statement(
  'replace-factor-secrets',
  { parameters: { owners: 'text[]', before: 'text[]', secrets: 'text[]' }, columns: owner },
  sql`
update second_factor set secret = changed.secret
from unnest(:owners::text[], :before::text[], :secrets::text[]) changed (owner, before, secret)
where second_factor.owner = changed.owner and second_factor.secret = changed.before
returning second_factor.owner`,
)
