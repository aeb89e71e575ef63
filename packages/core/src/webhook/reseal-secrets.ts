import type { Ports } from '../ports.ts'
import type { SealedSecret } from './secret-box.ts'

export interface Resealed {
  /** Endpoints. */
  readonly webhooks: number
  readonly carrierVersions: number
}

/**
 * Seals what was sealed with an older key with the current one; afterwards the older one opens nothing any more, but versions of the carriers before the
 * last one that no key of this process opens, which stay as they are. Returns how many it did so for. Throws, with nothing done, if one of the
 * others was sealed with a key that this process does not have.
 */
export const resealSecrets =
  ({ webhooks, carrierVersions, secretBox }: Pick<Ports, 'webhooks' | 'carrierVersions' | 'secretBox'>) =>
  async (): Promise<Resealed> => {
    const sealAgain = (sealed: SealedSecret): SealedSecret =>
      secretBox.isOld(sealed) ? secretBox.seal(secretBox.open(sealed)) : sealed
    const latest = await carrierVersions.latest()
    if (latest !== undefined) secretBox.open(latest.sealed)
    return {
      webhooks: await webhooks.resealSecrets(sealAgain),
      carrierVersions: await carrierVersions.reseal(({ version, sealed }) => {
        try {
          return sealAgain(sealed)
        } catch (problem) {
          if (version === latest?.version) throw problem
          return undefined
        }
      }),
    }
  }
