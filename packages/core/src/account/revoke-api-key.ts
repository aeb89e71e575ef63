import type { Ports } from '../ports.ts'
import type { KeyId } from './api-key.ts'

/** The key is dead in every process within 5 seconds. Revoking twice is no error. */
export const revokeApiKey =
  (ports: Pick<Ports, 'accounts' | 'clock'>) =>
  async (key: KeyId): Promise<'revoked' | 'no-such-key'> =>
    (await ports.accounts.revokeKey(key, ports.clock.now())) ? 'revoked' : 'no-such-key'
