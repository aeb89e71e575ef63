import { Refused, type RunAlone } from '../context.ts'
import { command } from '../command.ts'

export const carrierCheck = (runAlone: RunAlone) =>
  command(
    'check',
    'say whether a file would be accepted as CARRIERS=file:FILE; it needs the environment of the server, and no database',
    'gateway carrier check carriers.json',
  )
    .argument('<file>', 'the path of the file')
    .action((file: string) =>
      runAlone(async ({ output, variables }) => {
        const { readFileConfiguration } = await import('@gateway/carriers')
        const { carriers, routes } = await readFileConfiguration(file, variables).catch(refuse)
        const [ids, names] = [carriers.map(({ id }) => id), routes.map(({ name }) => name)]
        const also = names.length === 0 ? '' : ` and the routes ${names.join(', ')}`
        output.one(
          { carriers: ids.map((carrier) => ({ carrier })), routes: names.map((name) => ({ name })) },
          `Accepted: the carriers ${ids.join(', ')}${also}.`,
        )
      }),
    )

function refuse(problem: unknown): never {
  throw new Refused((problem as Error).message)
}
