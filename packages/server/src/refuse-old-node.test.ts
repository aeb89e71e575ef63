import { tooOld } from './refuse-old-node.ts'

test.each(['18.20.8', '20.18.3', '16.0.0'])('Node %s is refused in a sentence', (version) => {
  expect(tooOld(version)).toBe(`Node 20.19 or later is needed, this is ${version}.`)
})

test.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0-nightly'])('Node %s is taken', (version) => {
  expect(tooOld(version)).toBeUndefined()
})
