import { Argument, type Command } from 'commander'
import { command } from '../command.ts'
import { completionScript, shells, type Shell } from '../completion-script.ts'
import type { RunAlone } from '../context.ts'

export const completion = (runAlone: RunAlone) =>
  command(
    'completion',
    'print what a shell completes commands and options with',
    `source <(gateway completion bash)
  gateway completion zsh > "\${fpath[1]}/_gateway"
  gateway completion fish > ~/.config/fish/completions/gateway.fish`,
  )
    .addArgument(new Argument('<shell>', 'for which one').choices(shells))
    .action((shell: Shell, _options: unknown, self: Command) =>
      runAlone(({ output }) => {
        const script = completionScript(shell, self.parent ?? self)
        output.result({ shell, script }, script.trimEnd())
        return Promise.resolve()
      }),
    )
