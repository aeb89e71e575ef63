import { mayComeFrom, type ComesFrom } from '../accounts/account.ts'
import type { TooManyFailures } from '../people/secrets.ts'
import type { Ports } from '../ports.ts'
import type { SmppLogin, SmppSession } from './smpp-credentials.ts'

/** Credentials of a bind. */
export interface BindAttempt {
  readonly systemId: string
  readonly password: string
  /** Network of the client, as in `PasswordAttempt.network`. */
  readonly network: string
  readonly address: string
  readonly comesFrom: ComesFrom
}

/**
 * Returns the credential of a bind and its account, locked or not (ruling 5.4), or why the bind is refused. An unknown
 * system id and a wrong password are both 'wrong-credentials' (ruling 5.5). Failed attempts are limited by network and
 * system id (ruling 1.26). After each other refusal an honest client should try again: 'other-network' means that the
 * password is right but the address is not an allowed one, 'overloaded' and TooManyFailures that nothing was checked.
 */
export const authenticateBind =
  ({ smppCredentials, secrets, clock }: Pick<Ports, 'smppCredentials' | 'secrets' | 'clock'>) =>
  async ({
    systemId,
    password,
    network,
    address,
    comesFrom,
  }: BindAttempt): Promise<SmppSession | 'wrong-credentials' | 'other-network' | 'overloaded' | TooManyFailures> => {
    const checked = await secrets.checkPassword<SmppLogin>({
      // The prefix separates system ids from the user names of accounts.
      login: `smpp ${systemId}`,
      ...{ password, network, address, now: clock.now() },
      remembered: () => smppCredentials.bySystemId(systemId),
      stored: () => smppCredentials.readSystemId(systemId),
      mayUse: () => true,
    })
    if (checked === 'wrong') return 'wrong-credentials'
    if (checked === 'overloaded' || 'retryAfterSeconds' in checked) return checked
    const { account, credential } = checked
    return mayComeFrom(credential.from, comesFrom) ? { account, credential } : 'other-network'
  }
