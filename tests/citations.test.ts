import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { citesNothing, readCitable } from './support/citations.ts'
import { filesUnder } from './support/files-under.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8')

async function citable() {
  return readCitable(await read('docs/contract.md'), await read('docs/reliability.md'))
}

test('the contract has every section, rule and ruling by its number', async () => {
  const { sections, rules, rulings } = await citable()
  const upTo = (chapter: number, last: number) => Array.from({ length: last }, (_, i) => `${chapter}.${i + 1}`)
  expect([...sections]).toEqual('1 2 3 4 4.1 4.2 4.3 5 6 7 7.1 7.2 7.3 8 9'.split(' '))
  expect([...rules].map((rule) => rule.replace(', rule ', '/'))).toEqual([
    ...[1, 2, 3, 4, 5, 6].map((n) => `4.2/${n}`),
    ...[1, 2, 3, 4, 5, 6, 7].map((n) => `4.3/${n}`),
    ...[1, 2, 3, 4, 5, 6].map((n) => `5/${n}`),
  ])
  expect([...rulings]).toEqual([
    ...upTo(1, 32),
    ...upTo(2, 16),
    ...upTo(3, 8),
    ...upTo(4, 10),
    ...upTo(5, 7),
    ...upTo(6, 3),
  ])
})

test('every section, rule and ruling that comments and documents cite exists', async () => {
  const there = await citable()
  const folders = ['packages', 'apps', 'tests', 'benchmarks', 'docs'].map((one) =>
    filesUnder(one, /\.(ts|mjs|sql|md)$/),
  )
  const files = ['README.md', 'CHANGELOG.md', ...folders.flat()].filter((path) => path !== 'tests/citations.test.ts')
  expect(files.length).toBeGreaterThan(500)
  const wrong = await Promise.all(
    files.map(async (path) => citesNothing(await read(path), there).map((cited) => `${path}: ${cited}`)),
  )
  expect(wrong.flat()).toEqual([])
})

test.each([
  ['(spec 4.4)', ['spec 4.4']],
  ['(spec 4.2, rule 7)', ['spec 4.2, rule 7']],
  ['(spec 4.2, rules 4 and 9)', ['spec 4.2, rules 4 and 9']],
  ['(spec 8; ruling 1.33)', ['ruling 1.33']],
  ['rulings 1.4 to 5.9', ['rulings 1.4 to 5.9']],
  ['Ruling 2.17, P-99', ['Ruling 2.17', 'P-99']],
  ['(spec 4.2, rules 4 and 6; rulings 1.19, 1.20; P-1)', []],
])('a citation of nothing is found: %s', async (text, missing) => {
  expect(citesNothing(text, await citable())).toEqual(missing)
})
