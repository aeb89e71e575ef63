import { carrierLines, toldJson } from '../carrier-words.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'

export const carrierShow = (run: Run) =>
  command('show', 'show all that is known of a carrier, for each dispatcher')
    .argument('<name>', 'the name of the carrier')
    .action((name: string) =>
      run(async ({ backOffice, output, ports }) => {
        const told = (await backOffice.listCarriers()).filter(({ carrier }) => carrier === name)
        if (told.length === 0) throw new Refused(`No dispatcher tells of a carrier ${name}.`)
        const now = ports.clock.now()
        const text = told.map((one) => carrierLines(one, now)).join('\n\n')
        output.all(told.map(toldJson), text)
      }),
    )
