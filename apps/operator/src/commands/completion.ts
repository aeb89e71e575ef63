import { Argument, type Command } from 'commander'
import { command, type RunAlone } from '../command.ts'

export const completion = (runAlone: RunAlone) =>
  command(
    'completion',
    'print a script that completes commands and options in a shell',
    `source <(gateway completion bash)
  gateway completion zsh > "\${fpath[1]}/_gateway"
  gateway completion fish > ~/.config/fish/completions/gateway.fish`,
  )
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: Shell, _options: unknown, self: Command) =>
      runAlone(({ output }) => {
        const script = completionScript(shell, self.parent ?? self)
        output.result({ shell, script }, script.trimEnd())
        return Promise.resolve()
      }),
    )

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

interface Choices {
  /** Words after the name of the program, separated by blanks. */
  readonly path: string
  /**
   * Commands that may follow the path, with their descriptions. If no command can follow, the options of the command.
   */
  readonly words: readonly { readonly word: string; readonly about: string }[]
}

/** Returns the words that may follow each path of commands. */
function choicesOf(command: Command, path: readonly string[] = []): readonly Choices[] {
  const below = command.commands.map((one) => ({ word: one.name(), about: one.description() }))
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, short, description }) => ({ word: long ?? short ?? '', about: description }))
  const words = [...(below.length > 0 ? below : options), { word: '--help', about: 'display help for command' }]
  return [{ path: path.join(' '), words }, ...command.commands.flatMap((one) => choicesOf(one, [...path, one.name()]))]
}

/**
 * Returns a shell script that completes the commands of `program` and their options. Option values complete as files.
 */
export function completionScript(shell: Shell, program: Command): string {
  const all = choicesOf(program)
  if (shell === 'bash') return bash(all)
  return shell === 'zsh' ? zsh(all) : fish(all)
}

/** Returns the script for bash. The script builds the path from those words before the cursor that name commands. */
const bash = (all: readonly Choices[]): string => `# bash completion for gateway
_gateway() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" next="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    next="\${path:+$path }$word"
    case "$next" in
${casesOf(
  all.filter(({ path }) => path !== ''),
  ({ path }) => `      ${quoted(path)}) path="$next" ;;`,
)}
    esac
  done
  case "$path" in
${casesOf(all, ({ path, words }) => `    ${quoted(path)}) COMPREPLY=($(compgen -W ${quoted(words.map(({ word }) => word).join(' '))} -- "$current")) ;;`)}
  esac
}
complete -o default -F _gateway gateway
`

const zsh = (all: readonly Choices[]): string => `#compdef gateway
_gateway() {
  local path="" next="" word
  local -a choices
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next="\${path:+$path }$word"
    case "$next" in
${casesOf(
  all.filter(({ path }) => path !== ''),
  ({ path }) => `      ${quoted(path)}) path="$next" ;;`,
)}
    esac
  done
  case "$path" in
${casesOf(all, ({ path, words }) => `    ${quoted(path)}) choices=(${words.map(({ word, about }) => quoted(`${word.replaceAll(':', '\\:')}:${about}`)).join(' ')}) ;;`)}
  esac
  _describe 'gateway' choices || _files
}
if [ "$funcstack[1]" = "_gateway" ]; then _gateway "$@"; else compdef _gateway gateway; fi
`

const fish = (all: readonly Choices[]): string => `# fish completion for gateway
function __gateway_path
  set -l path ''
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$path $word")
    contains -- "$next" ${all
      .filter(({ path }) => path !== '')
      .map(({ path }) => quoted(path))
      .join(' ')}; and set path $next
  end
  test "$path" = "$argv[1]"
end
${all.flatMap(({ path, words }) => words.map(({ word, about }) => lineOf(path, word, about))).join('\n')}
`

const lineOf = (path: string, word: string, about: string): string => {
  const flags = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${quoted(word)}`
  return `complete -c gateway -n ${quoted(`__gateway_path ${quoted(path)}`)} ${flags} -d ${quoted(about)}`
}

const casesOf = (all: readonly Choices[], line: (one: Choices) => string): string => all.map(line).join('\n')

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
