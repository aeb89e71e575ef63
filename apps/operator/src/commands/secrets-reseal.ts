import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { counted } from '../show.ts'

/** The second step of changing SECRETS_KEY: afterwards the older key can be left out. */
export const secretsReseal = (run: Run) =>
  command('reseal', 'encrypt the secrets of webhooks and carriers with the first key of SECRETS_KEY').action(() =>
    run(async ({ backOffice, output }) => {
      const { webhooks, carrierVersions } = await output.during('Encrypting', backOffice.resealSecrets())
      output.result(
        { webhooks, carrierVersions },
        webhooks + carrierVersions === 0
          ? 'Every secret is encrypted with the current key.'
          : `The secrets of ${counted(webhooks, 'webhook')} and ${counted(carrierVersions, 'version')} of the carriers are now encrypted with the current key.`,
      )
    }),
  )
