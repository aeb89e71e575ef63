import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Change {
  readonly file: string
  readonly from: string
}

const root = fileURLToPath(new URL('..', import.meta.url))
const path = new URL('faults/plants.mjs', import.meta.url).href
const { plants, drillPlants } = (await import(path)) as {
  readonly plants: Readonly<Record<string, readonly Change[]>>
  readonly drillPlants: Readonly<Record<string, { readonly changes: readonly Change[] }>>
}
const ofDrill = Object.entries(drillPlants).map(([name, { changes }]) => [name, changes] as const)

// The fault test is only as good as the bugs that it is known to find. A plant that no longer fits the build cannot be
// tried, so this test detects such a plant early.
test.each([...Object.entries(plants), ...ofDrill])(
  'the planted bug "%s" fits the product as it is built',
  async (_name, changes) => {
    expect(changes.length).toBeGreaterThan(0)
    for (const { file, from } of changes) {
      const built = await readFile(join(root, file), 'utf8')
      expect({ file, from, times: built.split(from).length - 1 }).toEqual({ file, from, times: 1 })
    }
  },
)
