import type { KeyId } from '@gateway/core'
import { readKeyId } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'

export const keyRevoke = (run: Run) =>
  command('revoke', 'revoke a key: every process refuses it within 5 seconds')
    .argument('<key-id>', "the key's id, as 'key list' shows it", readKeyId)
    .action((id: KeyId) =>
      run(async ({ backOffice, output }) => {
        if ((await backOffice.revokeApiKey(id)) !== 'revoked') throw new Refused(`There is no key ${id}.`)
        output.result({ id, state: 'revoked' }, `Key ${id} is revoked.`)
      }),
    )
