import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { grouped, groups } from '../../scripts/test-groups.mjs'
import { root } from '../support/process.ts'

test('every package and app is in one group, and every group is run', () => {
  const folders = ['packages', 'apps'].flatMap((above) =>
    readdirSync(join(root, above)).map((name) => `${above}/${name}`),
  )
  const all = Object.values(groups).flat()
  expect(all.filter((path) => !grouped.includes(path)).toSorted()).toEqual([...folders, 'benchmarks'].toSorted())
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'))
  expect(files).toEqual([...Object.keys(groups), 'all'].map((name) => `${name}.test.ts`).toSorted())
})

test('every test file in a group exists, and is in no other group', () => {
  expect(grouped.filter((path) => !existsSync(join(root, path)))).toEqual([])
  expect(grouped.filter((path, i) => grouped.indexOf(path) !== i)).toEqual([])
})
