import type { SenderAddress } from '@gateway/core'
import { readCode } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'

export const shortcodeRelease = (run: Run) =>
  command('release', 'take a code from its account; what was sent from it can still be answered')
    .argument('<code>', 'the code', readCode)
    .action((code: SenderAddress) =>
      run(async ({ backOffice, output }) => {
        if (!(await backOffice.releaseShortCode(code))) throw new Refused(`${code} belongs to no account.`)
        output.result({ shortCode: code, released: true }, `${code} belongs to no account any more.`)
      }),
    )
