import type { KeyId } from '@gateway/core'
import { readKeyId, readNetworks } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'

export const keySet = (run: Run) =>
  command('set', 'change where an API key may be used', 'gateway key set 7 --from 192.0.2.0/24,2001:db8::/32')
    .argument('<key-id>', "the key's id, as 'key list' shows it", readKeyId)
    .requiredOption(
      '--from <networks>',
      "addresses or networks from which alone it may be used, separated by ','; 'any' for no such limit",
      readNetworks,
    )
    .action((key: KeyId, { from }: { readonly from: readonly string[] }) =>
      run(async ({ backOffice, output }) => {
        if (!(await backOffice.restrictApiKey(key, from))) throw new Refused(`There is no key ${key}.`)
        const where = from.length === 0 ? 'anywhere' : `${from.join(', ')} only`
        output.result({ id: key, networks: from }, `Key ${key} may be used from ${where}.`)
      }),
    )
