import { Command, Help } from 'commander'

/** A command of ours: `--json` on each, and an example, so that its help has them wherever one looks. */
export const command = (name: string, description: string, example?: string): Command =>
  new Command(name)
    .description(description)
    .configureHelp({ optionDescription: describeOption })
    .option('--json', 'print the result as JSON, for programs')
    .addHelpText('after', example === undefined ? '' : `\nExample:\n  ${example}`)

const describeOption: Help['optionDescription'] = (option) => {
  const described = new Help().optionDescription(option)
  return option.mandatory ? `${described} (required)` : described
}

/** A command that only groups others. */
export const group = (name: string, description: string, commands: readonly Command[]): Command => {
  const made = new Command(name).description(description)
  for (const one of commands) made.addCommand(one)
  return made
}
