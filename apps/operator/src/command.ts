import { Command } from 'commander'

/** A command of ours: `--json` on each, so that its help names it wherever one looks. */
export const command = (name: string, description: string): Command =>
  new Command(name).description(description).option('--json', 'print the result as JSON, for programs')

/** A command that only groups others. */
export const group = (name: string, description: string, commands: readonly Command[]): Command => {
  const made = new Command(name).description(description)
  for (const one of commands) made.addCommand(one)
  return made
}
