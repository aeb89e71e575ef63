import { readFileSync } from 'node:fs'

/** The version of this package, which all packages share. package.json is one folder up from `src`, from `dist` and in a packed archive. */
export const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}
