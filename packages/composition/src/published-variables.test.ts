import { readFileSync } from 'node:fs'
import { publishedVariables } from './published-variables.ts'

test('the variables that are known are those that the configuration page tells of', () => {
  const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8')
  const ofTables = Array.from(page.matchAll(/^\| `([A-Z_]+)`/gm), ([, name]) => name)
  const ofLibpq = Array.from(page.matchAll(/`(PGSSL[A-Z]+)`/g), ([, name]) => name)
  expect([...publishedVariables].sort()).toEqual([...new Set([...ofTables, ...ofLibpq])].sort())
})
