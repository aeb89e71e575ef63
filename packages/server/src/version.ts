import { readFileSync } from 'node:fs'

/** The version of the product: that of this package, which all of the product share. The file lies beside `src`, `dist` and in a packed archive. */
export const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}
