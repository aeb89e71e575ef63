import { mkdtemp, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCarrier } from './carrier-specification.ts'
import { readConfiguration } from './read-configuration.ts'

let dataDir: string
beforeEach(async () => (dataDir = await mkdtemp(join(tmpdir(), 'carriers-'))))
afterEach(() => rm(dataDir, { recursive: true }))

const report = (): void => undefined

test('carriers are made in the order they are named, each with a folder of its own', async () => {
  const { carriers: specifications, routes } = await readConfiguration(
    ' simulator: , fast=simulator:?delayMs=0&window=5,',
    {},
  )
  const carriers = specifications.map((one) => makeCarrier(one, { dataDir, report, sharing: undefined }))
  expect(routes).toEqual([])
  expect(carriers.map(({ id, window }) => [id, window])).toEqual([
    ['simulator', 1000],
    ['fast', 5],
  ])
  expect([existsSync(join(dataDir, 'simulator')), existsSync(join(dataDir, 'fast'))]).toEqual([true, true])
  await Promise.all(carriers.map((carrier) => carrier.close(Promise.resolve())))
})

test.each([
  ['', 'CARRIERS names no carrier'],
  [' , ', 'CARRIERS names no carrier'],
  ['simulator', 'of an unknown kind; expected one of smpp:, smpps:, simulator:'],
  ['ftp://user:secret@host', 'of an unknown kind; expected one of smpp:, smpps:, simulator:'],
  ['smpp://user:secret@host?window=no', 'smpp://host:2775 cannot be used: window is wrong'],
  ['__proto__:', 'of an unknown kind'],
  ['simulator:,simulator:?window=5', 'names two carriers "simulator"'],
  ['A b=simulator:', '"A b" is not a carrier name'],
  ['=simulator:', '"" is not a carrier name'],
  ['simulator:?windows=5', 'unknown parameter "windows"'],
  ['file:', 'names no file'],
  ['file:/nowhere/carriers.json', '/nowhere/carriers.json cannot be used:\n  it cannot be read: ENOENT'],
])('%j is refused: %s', async (text, why) => {
  const problem = await readConfiguration(text, {}).catch((error: unknown) => error as Error)
  expect(problem).toMatchObject({ message: expect.stringContaining(why) as string })
  expect(problem).not.toMatchObject({ message: expect.stringContaining('secret') as string })
})
