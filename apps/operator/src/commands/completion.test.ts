import { execFileSync, spawnSync } from 'node:child_process'
import { anOperator } from '../../testing/operate.ts'

const scriptOf = async (shell: string): Promise<string> => {
  const { code, out, err } = await anOperator().run(['completion', shell])
  expect([code, err]).toEqual([0, ''])
  return out
}

const isThere = (program: string): boolean => spawnSync(program, ['--version']).error === undefined

/** Returns the completions that bash offers for these words. The last word is incomplete. */
async function completed(...words: readonly string[]): Promise<readonly string[]> {
  const line = ['gateway', ...words].map((word) => `'${word}'`).join(' ')
  const script = `${await scriptOf('bash')}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _gateway; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n')
}

test.each<[words: readonly string[], offered: readonly string[]]>([
  [['acc'], ['account']],
  [['account', 'loc'], ['lock']],
  [['account', 'ledger', '3', '--cs'], ['--csv']],
  [['message', 'refund', '--w'], ['--why']],
])('bash completes %j', async (words, offered) => {
  expect(await completed(...words)).toEqual(offered)
})

test('a script names every command for zsh and fish, and each installed shell accepts it', async () => {
  for (const shell of ['zsh', 'fish']) {
    const script = await scriptOf(shell)
    expect(script).toContain("'message refund'")
    if (isThere(shell)) execFileSync(shell, ['-n'], { input: script })
  }
})

test('an unknown shell is a usage error', async () => {
  expect(await anOperator().run(['completion', 'tcsh'])).toMatchObject({ code: 2, out: '' })
})
