import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommanderError, type Command } from 'commander'
import { createProgram } from './program.ts'

const root = join(import.meta.dirname, '../../..')
const pages = [
  ...readdirSync(root),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
  ...['apps', 'packages'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}/README.md`),
  ),
].filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')

/** Values for the placeholders on the pages. */
const values: Readonly<Record<string, string>> = {
  ID: '3',
  LOGIN: 'acme',
  FILE: 'file',
  NAME: 'name',
  NUMBER: '27825550101',
  CARRIER: 'name',
  TEXT: 'text',
  MAIN: '3',
  PREFIX: '27',
  URL: 'https://example.com/',
  OTHER: '7',
}

/** Returns the words of a command as a shell would split them, up to a pipe or redirection. */
function wordsOf(line: string): readonly string[] {
  const [command = ''] = line.split(/\s(?:#|&&|\||>|<|2>)\s?/)
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, one, two, three]) => one ?? two ?? three ?? '',
  )
  return words
    .filter((word) => word !== '…' && word !== '')
    .map((word) => values[word] ?? word.replace(/;$/, '').replace(/^\$\w+$/, '3'))
}

interface Documented {
  readonly page: string
  readonly line: string
  readonly isWhole: boolean
}

/**
 * Returns the commands on a page: lines of code, and `gateway …` within sentences. A command within a sentence may lack
 * required arguments.
 */
function commandsOf(page: string): readonly Documented[] {
  const text = readFileSync(join(root, page), 'utf8')
  const blocks = [...text.matchAll(/^ *```\w*\n([\s\S]*?)^ *```/gm)].map(([, block = '']) => block)
  const lines = blocks.flatMap((block) => [
    ...block
      .replaceAll('\\\n', ' ')
      .matchAll(
        /(?:pnpm gateway|gateway\.mjs|^ *(?:\$ )?(?:sudo )?gateway|(?:exec|--|chroot) [^\n]*\bgateway) ([^\n]*)/gm,
      ),
  ])
  const inline = [
    ...text
      .replace(/^ *```\w*\n[\s\S]*?^ *```/gm, '')
      .matchAll(/`(?:npx pnpm |node scripts\/)?gateway(?:\.mjs)? ([^`]+)`/g),
  ]
  const found = (matches: readonly RegExpMatchArray[], isWhole: boolean) =>
    matches.map(([, line = '']) => ({ page, line: line.replace(/\s+/g, ' ').trim(), isWhole }))
  return [...found(lines, true), ...found(inline, false)].filter(({ line }) => !line.startsWith('…'))
}

const everyCommand = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(everyCommand)]

/** Returns what is wrong with a command, or undefined if the command line accepts it. Does not run it. */
async function problemOf({ line, isWhole }: Documented): Promise<string | undefined> {
  const nothing = () => Promise.resolve()
  const never = () => Promise.reject(new CommanderError(0, '', ''))
  const program = createProgram(
    { run: nothing, runAlone: nothing, look: never, runMigrate: nothing, runCopy: nothing, runBackup: nothing },
    '0',
  )
  for (const command of everyCommand(program))
    command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
  try {
    await program.parseAsync(wordsOf(line), { from: 'user' })
    return undefined
  } catch (problem) {
    if (!(problem instanceof CommanderError) || problem.exitCode === 0)
      return problem instanceof CommanderError ? undefined : String(problem)
    // A command within a sentence may omit required arguments.
    const isLeftOut = /missingArgument|missingMandatoryOptionValue|commander\.help|optionMissingArgument/.test(
      problem.code,
    )
    return !isWhole && isLeftOut ? undefined : `${problem.code} ${problem.message}`
  }
}

test('every command on a page for users is accepted by the command line', async () => {
  const documented = pages.flatMap(commandsOf)
  expect(documented.length).toBeGreaterThan(80)
  const problems = await Promise.all(documented.map(async (one) => ({ ...one, problem: await problemOf(one) })))
  expect(problems.filter(({ problem }) => problem !== undefined)).toEqual([])
})

test.each([
  ['queue shows', true],
  ['key issue 3 --until 1d', false],
  ['credits top-up 3 many --why gift', false],
  ['key issue', true],
])('%s would be detected', async (line, isWhole) => {
  expect(await problemOf({ page: 'here', line, isWhole })).toMatch(/^commander/)
})
