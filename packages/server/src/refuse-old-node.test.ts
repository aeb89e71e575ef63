import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tooOld } from './refuse-old-node.ts'

test.each(['18.20.8', '20.18.3', '16.0.0'])('Node %s is refused in a sentence', (version) => {
  expect(tooOld(version)).toBe(`Node 20.19 or later is needed, this is ${version}.`)
})

test.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0-nightly'])('Node %s is accepted', (version) => {
  expect(tooOld(version)).toBeUndefined()
})

const root = new URL('../../../', import.meta.url)
const mains = ['apps', 'packages'].flatMap((area) =>
  readdirSync(new URL(area, root))
    .map((name) => `${area}/${name}/src/main.ts`)
    .filter((file) => existsSync(new URL(file, root))),
)

test.each(mains)('%s refuses it before anything is loaded that an old Node cannot read', (file) => {
  const text = readFileSync(new URL(file, root), 'utf8')
  const loaded = Array.from(text.matchAll(/^(?:import|export) (?!type ).*?'(.+)'$/gm), ([, name]) => name)
  const harmless = /^(?:node:.*|@gateway\/server\/early-signals|\.\/refuse-old-node\.ts)$/
  expect(loaded.filter((name = '') => !harmless.test(name))).toEqual([])
  expect(text).toMatch(/^(?:refuseOldNode|exitOnEarlySignals)\(\)$/m)
})
