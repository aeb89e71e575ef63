import type { AccountId } from '@gateway/core'
import { readAccountId, readPerSecond } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { changeAndShow } from './change-and-show.ts'

interface Options {
  readonly requests?: number | 'none'
  readonly recipients?: number | 'none'
}

const limitOf = (given: number | 'none' | undefined): number | null | undefined => (given === 'none' ? null : given)

export const accountLimit = (run: Run) =>
  command(
    'limit',
    'limit what an account may do a second, on all interfaces and in all processes together',
    'gateway account limit 3 --requests 50 --recipients 1000',
  )
    .argument('<id>', "the account's id", readAccountId)
    .option('--requests <number>', "requests a second; 'none' for no limit", readPerSecond)
    .option('--recipients <number>', "recipients of sends a second; 'none' for no limit", readPerSecond)
    .action((id: AccountId, { requests, recipients }: Options) => {
      if (requests === undefined && recipients === undefined)
        throw new Refused('Say what to limit: --requests, --recipients, or both.', 2)
      return run((context) =>
        changeAndShow(context, id, { requestsPerSecond: limitOf(requests), recipientsPerSecond: limitOf(recipients) }),
      )
    })
