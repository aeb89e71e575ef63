import { carrierHead, carrierRow } from '../carrier-words.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'

export const carrierList = (run: Run) =>
  command('list', 'list the carriers of every dispatcher, and how they are').action(() =>
    run(async ({ backOffice, output }) => {
      const carriers = await backOffice.listCarriers()
      await output.rows(carrierHead, carriers.map(carrierRow))
      if (carriers.length === 0) output.note('No dispatcher tells of a carrier: nothing is sent.')
    }),
  )
