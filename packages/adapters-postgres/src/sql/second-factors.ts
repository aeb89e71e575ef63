import type { SealedSecret } from '@gateway/core/webhooks'
import { column, sql, statement } from './statement.ts'

// Run these statements on the ordinary connections (`pools.ordinary`).

/** Lists the secrets, in the order in which they were set. */
export const listFactorSecrets = statement(
  'list-factor-secrets',
  { parameters: {}, columns: { owner: 'text', secret: column<SealedSecret>('text') } },
  sql`select owner, secret from second_factor order by since, owner`,
)

/** Replaces secrets. Returns the owners whose secret was still `before`; the others do not change. */
export const replaceFactorSecrets = statement(
  'replace-factor-secrets',
  { parameters: { owners: 'text[]', before: 'text[]', secrets: 'text[]' }, columns: { owner: 'text' } },
  sql`
update second_factor set secret = changed.secret
from unnest(:owners::text[], :before::text[], :secrets::text[]) changed (owner, before, secret)
where second_factor.owner = changed.owner and second_factor.secret = changed.before
returning second_factor.owner`,
)
