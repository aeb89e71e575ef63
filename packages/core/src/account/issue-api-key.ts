import type { Ports } from '../ports.ts'
import type { Instant } from '../time/instant.ts'
import type { AccountId } from './account.ts'
import { isValid, type KeyId } from './api-key.ts'

const prefixLength = 6

/** A key in clear: shown once, stored nowhere. */
export interface IssuedKey {
  readonly id: KeyId
  readonly key: string
}

/** Issues one more key; the ones before stay valid. It opens the account until it expires or is revoked. */
export const issueApiKey =
  (ports: Pick<Ports, 'accounts' | 'secrets' | 'clock'>) =>
  async (
    account: AccountId,
    about: {
      readonly label?: string | undefined
      readonly expires?: Instant | undefined
      readonly from?: readonly string[] | undefined
    } = {},
  ): Promise<IssuedKey | 'no-such-account' | 'expired-already'> => {
    const now = ports.clock.now()
    if (!isValid({ expires: about.expires, revoked: undefined, from: [] }, now)) return 'expired-already'
    const key = ports.secrets.newApiKey()
    const id = await ports.accounts.issueKey(
      account,
      {
        hash: ports.secrets.hashKey(key),
        prefix: key.slice(0, prefixLength),
        label: about.label ?? '',
        expires: about.expires,
        from: about.from ?? [],
      },
      now,
    )
    return id === undefined ? 'no-such-account' : { id, key }
  }
