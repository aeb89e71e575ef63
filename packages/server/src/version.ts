import { readFileSync } from 'node:fs'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')

/**
 * package.json is one folder above `src`, `dist` and the root of a packed archive. A release stores its commit there as
 * `gitHead`.
 */
const manifest = JSON.parse(read('../package.json')) as { readonly version: string; readonly gitHead?: string }

/** Version of all packages. */
export const { version } = manifest

/**
 * Returns the commit of the git repository that contains `packages/server`. Reads the files in `.git` directly, because
 * the git program may not be installed.
 */
export function checkedOut(readText: (path: string) => string): string | undefined {
  const attempt = (path: string): string | undefined => {
    try {
      return readText(path).trim()
    } catch {
      return undefined
    }
  }
  // In a linked work tree `.git` is a file that names the folder.
  const folder = /^gitdir: (.+)$/.exec(attempt('.git') ?? '')?.[1] ?? '.git'
  const head = attempt(`${folder}/HEAD`)
  const branch = /^ref: (.+)$/.exec(head ?? '')?.[1]
  const common = `${folder}/${attempt(`${folder}/commondir`) ?? '.'}`
  const commit =
    branch === undefined
      ? head
      : (attempt(`${common}/${branch}`) ??
        attempt(`${common}/packed-refs`)
          ?.split('\n')
          .find((line) => line.endsWith(` ${branch}`))
          ?.split(' ')[0])
  return commit !== undefined && /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined
}

/** Commit that the code was built from, if it is known. */
export const commit = manifest.gitHead ?? checkedOut((path) => read(path.startsWith('/') ? path : `../../../${path}`))

/** Version and commit, for the log and the health endpoints. */
export const release = { version, ...(commit !== undefined && { commit }) }

/** Output of `--version`: the version, and the commit as short as git shows it. */
export const versionLine = commit === undefined ? version : `${version} (${commit.slice(0, 12)})`
