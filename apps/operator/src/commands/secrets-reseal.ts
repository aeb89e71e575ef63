import { command } from '../command.ts'
import type { Run } from '../context.ts'

/** The second step of changing SECRETS_KEY: afterwards the older key can be left out. */
export const secretsReseal = (run: Run) =>
  command('reseal', 'encrypt the secrets of all webhooks with the first key of SECRETS_KEY').action(() =>
    run(async ({ backOffice, output }) => {
      const webhooks = await output.during('Encrypting', backOffice.resealSecrets())
      output.result(
        { webhooks },
        webhooks === 0
          ? 'Every secret is encrypted with the current key.'
          : `The secrets of ${webhooks} webhooks are now encrypted with the current key.`,
      )
    }),
  )
