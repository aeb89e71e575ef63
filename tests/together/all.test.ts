import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/process.ts'
import { groups } from './together.ts'

test('every package and app is in one group, and every group is run', () => {
  const folders = ['packages', 'apps'].flatMap((above) =>
    readdirSync(join(root, above)).map((name) => `${above}/${name}`),
  )
  expect(Object.values(groups).flat().toSorted()).toEqual([...folders, 'benchmarks'].toSorted())
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'))
  expect(files).toEqual([...Object.keys(groups), 'all'].map((name) => `${name}.test.ts`).toSorted())
})
