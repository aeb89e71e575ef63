import type { Ports } from '../ports.ts'

/**
 * Seals what was sealed with an older key with the current one; afterwards the older one opens nothing any more. Returns how many
 * endpoints it did so for. Throws, with nothing done, if one was sealed with a key that this process does not have.
 */
export const resealSecrets =
  ({ webhooks, secretBox }: Pick<Ports, 'webhooks' | 'secretBox'>) =>
  (): Promise<number> =>
    webhooks.resealSecrets((sealed) => (secretBox.isOld(sealed) ? secretBox.seal(secretBox.open(sealed)) : sealed))
