import { command } from '../command.ts'
import type { Output } from '../output.ts'

export interface AppliedMigration {
  readonly version: number
  readonly name: string
}

/** The one command that needs a database and no schema in it. */
export type RunMigrate = (
  work: (migrate: () => Promise<readonly AppliedMigration[]>, output: Output) => Promise<void>,
) => Promise<void>

export const migrate = (run: RunMigrate) =>
  command('migrate', "bring the database's schema up to this version; servers do so when they start").action(() =>
    run(async (apply, output) => {
      const applied = await output.during('Bringing the schema up to date', apply())
      output.result(
        { applied: applied.map(({ version, name }) => ({ migration: version, name })) },
        applied.length === 0
          ? 'The schema is up to date.'
          : applied.map(({ version, name }) => `Applied ${version} ${name}.`).join('\n'),
      )
    }),
  )
