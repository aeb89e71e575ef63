import { spawnSync } from 'node:child_process'
import { checkedOut, commit, release, version, versionLine } from './version.ts'

const id = '9f2f1ae0b230307c2808ee70d0306f664408f6c8'
const other = id.replace('9', '8')
const inside = (files: Readonly<Record<string, string>>) =>
  checkedOut((path) => {
    const text = files[path.replaceAll('/./', '/')]
    if (text === undefined) throw new Error(`there is no ${path}`)
    return text
  })

test.each<[string, Readonly<Record<string, string>>, string | undefined]>([
  ['a branch', { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': `${id}\n` }, id],
  ['no branch', { '.git/HEAD': `${id}\n` }, id],
  [
    'a branch among packed ones',
    { '.git/HEAD': 'ref: refs/heads/main\n', '.git/packed-refs': `${other} refs/heads/a\n${id} refs/heads/main\n` },
    id,
  ],
  [
    'a work tree of its own',
    {
      '.git': 'gitdir: /home/a/gateway/.git/worktrees/b\n',
      '/home/a/gateway/.git/worktrees/b/HEAD': 'ref: refs/heads/b\n',
      '/home/a/gateway/.git/worktrees/b/commondir': '../..\n',
      '/home/a/gateway/.git/worktrees/b/../../refs/heads/b': `${id}\n`,
    },
    id,
  ],
  ['a branch without a commit', { '.git/HEAD': 'ref: refs/heads/main\n' }, undefined],
  ['no repository', {}, undefined],
  ['what is no commit', { '.git/HEAD': 'main\n' }, undefined],
])('the commit of a checkout with %s', (_, files, expected) => {
  expect(inside(files)).toBe(expected)
})

test('the commit is the one that git reports, beside the version', () => {
  const git = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' })
  if (git.status === 0) expect(commit).toBe(git.stdout.trim())
  expect(release).toEqual(commit === undefined ? { version } : { version, commit })
  expect(versionLine).toBe(commit === undefined ? version : `${version} (${commit.slice(0, 12)})`)
})
