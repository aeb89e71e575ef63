import { readTimes } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { counted } from '../show.ts'

interface Options {
  readonly blocks: number
}

export const idsSkip = (run: Run) =>
  command(
    'skip',
    'after a restore: leave out the ids that may have been given out since the backup; stop every process before, or restart it after',
    'gateway ids skip --blocks 5000',
  )
    .option('--blocks <count>', 'so many blocks of 10,000 ids, 1 to 1000000', readTimes, 1000)
    .action(({ blocks }: Options) =>
      run(async ({ backOffice, output }) => {
        const from = await output.during('Skipping ids', backOffice.skipIds(blocks))
        output.result(
          { blocks, firstMessage: from },
          `${counted(blocks, 'block')} skipped: processes that start from now on give out ids from ${from} on.`,
        )
      }),
    )
