import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runConformance } from '@gateway/conformance'
import { runSuite } from './support/conformance.ts'
import { defectiveGateway, type Defect } from './support/defects.ts'
import { addressesOf, startMemoryConformance, type MemoryConformance } from './support/memory-conformance.ts'
import { plantedDefects } from './support/planted-defects.ts'

let gateway: MemoryConformance
let proxy: Awaited<ReturnType<typeof defectiveGateway>>

beforeAll(async () => {
  gateway = await startMemoryConformance()
  proxy = await defectiveGateway(gateway.url.href, gateway.configuration.accounts)
})
afterAll(async () => {
  await proxy.close()
  await gateway.stop()
})

test('a failed case is reported with its last request and answer, without keys and passwords, and the command ends with 1', async () => {
  const { configuration, folder } = gateway
  proxy.plant({ fails: [], answer: (answered) => void (answered.text = answered.text.replace('OK', 'Yes')) })
  const [file, junit] = [join(folder, 'conformance.json'), join(folder, 'junit.xml')]
  await writeFile(file, JSON.stringify(configuration))
  const choice = ['--case', 'a key or a pair', '--case', 'no line break']
  const args = ['--base-url', proxy.url.href, '--config', file, '--junit', junit, ...choice]
  const { code, out, err } = await runSuite(args, {})
  expect([code, err.match(/^failed.*/gm)?.length]).toEqual([1, 2])
  expect(out).toContain('last request and answer: GET /api/auth.asp?apikey=***: 200 Login=Yes')
  expect(out).toMatch(/^0 passed, 2 failed, 0 not testable here/m)
  const xml = await readFile(junit, 'utf8')
  expect(xml).toContain('tests="2" failures="2" skipped="0"')
  const { key, password } = configuration.accounts.main
  for (const secret of [key, password]) expect((out + err + xml).includes(secret)).toBe(false)
}, 60_000)

test('each planted defect fails the cases that test for it, and these pass without a defect', async () => {
  const { delivered } = gateway.configuration.numbers
  /** Each run uses different numbers. */
  let used = 1
  const resultsOf = async (titles: readonly string[], defect?: Defect) => {
    proxy.plant(defect)
    const numbers = { ...gateway.configuration.numbers, delivered: [delivered[0] ?? '', ...delivered.slice(used)] }
    used = (used + 3) % 30
    const { results } = await runConformance({
      addresses: addressesOf(proxy.url),
      configuration: { ...gateway.configuration, numbers },
      choice: { sections: [], titles },
      bringReply: gateway.bringReply,
    })
    return results
  }
  const defects = Object.entries(plantedDefects)
  expect(defects.length).toBeGreaterThanOrEqual(20)
  const missed: string[] = []
  for (const [name, defect] of defects) {
    // Every outcome except 'passed' counts as detected, because a case that fails repeatedly on a busy machine is not
    // judged.
    const failed = (await resultsOf(defect.fails, defect)).filter(({ outcome }) => outcome.is !== 'passed')
    const noticed = failed.map((one) => one.case.title)
    for (const title of defect.fails) if (!noticed.some((one) => one.includes(title))) missed.push(`${name}: ${title}`)
  }
  expect(missed).toEqual([])
  const without = await resultsOf(defects.flatMap(([, { fails }]) => fails))
  expect(without.filter(({ outcome }) => outcome.is === 'failed').map((one) => one.case.title)).toEqual([])
}, 300_000)
