import type { AccountId } from '../accounts/account.ts'
import type { AuditDetail } from '../audit/audit-log.ts'
import type { Ports, SmppCustomerPorts } from '../ports.ts'
import {
  smppDefaults,
  smppSettingsRefusal,
  type SmppCredential,
  type SmppCredentialId,
  type SmppSettings,
  type SmppSettingsRefusal,
} from './smpp-credential.ts'

/** New or rotated credential with its password, which is not stored and cannot be shown again. */
export interface SmppCredentialWithPassword {
  readonly credential: SmppCredential
  readonly password: string
}

type CredentialPorts = Pick<Ports, 'smppCredentials' | 'secrets' | 'clock'>

const systemIdTries = 5

/** Length of a generated password. SMPP 3.4 (5.2.2) allows at most 8 characters, and many clients accept no more. */
const passwordLength = 8

/**
 * Returns a random text in the characters of a password. SMPP 3.4 limits a password to 8 characters, so it is short;
 * failed binds are slowed (ruling 1.26).
 */
const randomText = ({ secrets }: Pick<Ports, 'secrets'>, length: number): string =>
  secrets
    .newPassword()
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, length)

/**
 * Adds a credential with a new system id and password. Settings that are left out have their defaults
 * (`smppDefaults`).
 */
export const addSmppCredential =
  (ports: CredentialPorts) =>
  async (
    account: AccountId,
    settings: Partial<SmppSettings> = {},
  ): Promise<SmppCredentialWithPassword | SmppSettingsRefusal | 'no-such-account'> => {
    const refusal = smppSettingsRefusal(settings)
    if (refusal !== undefined) return refusal
    const password = randomText(ports, passwordLength)
    const hash = await ports.secrets.hashPassword(password)
    for (let tries = 0; tries < systemIdTries; tries++) {
      const systemId = `c${account}${randomText(ports, 4).toLowerCase()}`
      const added = await ports.smppCredentials.add(
        { ...smppDefaults, ...defined(settings), account, systemId, password: hash },
        ports.clock.now(),
      )
      if (added === 'no-such-account') return added
      if (added !== 'system-id-taken') return { credential: added, password }
    }
    throw new Error('no unused system id was found')
  }

const defined = (settings: Partial<SmppSettings>): Partial<SmppSettings> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))

/** Changes settings of a credential. Omitted settings do not change. `by` is undefined for the operator. */
export const changeSmppCredential =
  ({ smppCredentials }: Pick<Ports, 'smppCredentials'>) =>
  async (
    by: AccountId | undefined,
    id: SmppCredentialId,
    settings: Partial<SmppSettings>,
  ): Promise<SmppCredential | SmppSettingsRefusal | 'no-such-credential'> =>
    smppSettingsRefusal(settings) ?? (await smppCredentials.change(by, id, settings)) ?? 'no-such-credential'

/** Replaces the password of a credential and closes its binds. `by` is undefined for the operator. */
export const rotateSmppCredential =
  (ports: CredentialPorts) =>
  async (
    by: AccountId | undefined,
    id: SmppCredentialId,
  ): Promise<SmppCredentialWithPassword | 'no-such-credential'> => {
    const password = randomText(ports, passwordLength)
    const hash = await ports.secrets.hashPassword(password)
    const credential = await ports.smppCredentials.rotate(by, id, hash, ports.clock.now())
    return credential === undefined ? 'no-such-credential' : { credential, password }
  }

/**
 * Returns the fields of an audit line that name the credential and read its state. `by` is undefined for the operator.
 */
export const stateOfCredential = (by: AccountId | undefined, credential: SmppCredentialId) => ({
  given: { credential },
  state: async ({ smppCredentials }: SmppCustomerPorts): Promise<AuditDetail> => {
    const found = await smppCredentials.find(by, credential)
    return found === undefined ? {} : { ...found, from: [...found.from] }
  },
})

/** Returns the recorded outcome of a new credential, without the password. */
export const outcomeOfCredential = (added: SmppCredentialWithPassword | string) =>
  typeof added === 'string' ? added : { credential: added.credential.id, systemId: added.credential.systemId }
