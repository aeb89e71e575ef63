import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { coveredElsewhere, everyCase, runConformance, textReport, type Configuration } from '@gateway/conformance'
import { readCitable } from './support/citations.ts'
import { prepared, replyIn, replyServer } from './support/conformance.ts'
import { wrongBeginnings } from './support/contract-sentences.ts'
import { defectiveGateway, type Defect } from './support/defects.ts'
import { startAllInOne, startFiveProcesses, type RunningGateway } from './support/gateways.ts'
import { inTurn } from './support/in-turn.ts'
import { plantedDefects } from './support/planted-defects.ts'
import {
  cleanEnvironment,
  killLeftovers,
  root,
  startWhatIsShipped,
  type Environment,
  type Outcome,
} from './support/process.ts'
import { sentenceCases } from './support/sentence-cases.ts'

startWhatIsShipped()
afterAll(killLeftovers)

/** Runs the command of the suite as its user does. */
const runSuite = (args: readonly string[], environment: Environment): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const main = join(root, 'packages', 'conformance', 'dist', 'main.js')
    const child = spawn(process.execPath, [main, ...args], { cwd: root, env: cleanEnvironment(environment) })
    let [out, err] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, out, err }))
  })

/** What passes whole in this run. */
const whole = inTurn(['the all-in-one', 'five processes'] as const)

/** Headings that say nothing themselves. */
const chapters = ['4', '7']

test('every section, rule, ruling and addition of the contract has a case, or an entry that names the test that covers it', async () => {
  const { sections, rules, rulings, additions } = readCitable(
    await readFile(join(root, 'docs', 'contract.md'), 'utf8'),
    '',
  )
  const numbers = [...sections, ...rules]
    .filter((section) => !chapters.includes(section))
    .map((number) => `spec ${number}`)
    .concat(...rulings, ...additions)
  const cited = [...everyCase.flatMap(({ of }) => of), ...coveredElsewhere.map(({ of }) => of)]
  expect(numbers.filter((number) => !cited.includes(number))).toEqual([])
  expect(cited.filter((number) => !numbers.includes(number))).toEqual([])
  expect(coveredElsewhere.filter(({ by }) => !existsSync(join(root, by)))).toEqual([])
  const titles = everyCase.map(({ title }) => title)
  expect(titles.filter((title, i) => titles.indexOf(title) !== i)).toEqual([])
})

test('every sentence and table row of the contract has a case, or the test that covers it', async () => {
  const contract = await readFile(join(root, 'docs', 'contract.md'), 'utf8')
  expect(wrongBeginnings(contract, sentenceCases)).toEqual([])
  const asks = ([number, by]: readonly [string, string]): boolean =>
    by === 'nothing' ||
    (by.endsWith('.ts')
      ? existsSync(join(root, by))
      : everyCase.some(({ of, title }) => of.includes(number) && title.includes(by)))
  const asked = Object.entries(sentenceCases).flatMap(([of, some]) => some.map(([, by]) => [of, by] as const))
  expect(asked.filter((one) => !asks(one))).toEqual([])
  for (const [sentence, instead] of [
    ['Unknown fields are ignored.', 'Unknown fields are ignored. They may be of any type.'],
    ['Missing or empty: 401. ', ''],
    ['| 108  | SKIPPED                                     |', '| 109  | SKIPPED |'],
  ] as const) {
    expect(contract).toContain(sentence)
    expect(wrongBeginnings(contract.replace(sentence, instead), sentenceCases)).not.toEqual([])
  }
})

describe('the all-in-one', () => {
  let gateway: RunningGateway
  let configuration: Configuration
  let replies: Awaited<ReturnType<typeof replyServer>>

  beforeAll(async () => {
    gateway = await startAllInOne()
    replies = await replyServer(gateway.environment)
    configuration = { ...(await prepared(gateway.environment)), replies: replies.configuration }
  }, 60_000)
  afterAll(async () => {
    await replies.close()
    await gateway.stop()
  })

  test('cases that need a reply are not testable, and say why, where the command brings none into this gateway', async () => {
    const result = await runConformance({
      addresses: { rest: new URL(gateway.restUrl), asp: new URL(gateway.aspUrl), xml: new URL(gateway.xmlUrl) },
      configuration: { ...configuration, deliverySeconds: 5 },
      choice: {
        sections: [],
        titles: [
          'the query string returns a reply once, byte for byte; afterwards neither it nor XML has it, and REST still does',
        ],
      },
      bringReply: () => Promise.resolve(),
      probesReplies: true,
    })
    const untested = result.results.flatMap(({ outcome }) => (outcome.is === 'not testable' ? [outcome.why] : []))
    expect(result.results.filter(({ outcome }) => outcome.is === 'failed')).toEqual([])
    expect(untested[0]).toMatch(
      /^replies\.command brings no reply into this gateway: not within 5 s: the reply of \d+\. It must/,
    )
  })

  const passesWhole = async (): Promise<void> => {
    const [file, junit] = [join(gateway.folder, 'conformance.json'), join(gateway.folder, 'junit.xml')]
    await writeFile(file, JSON.stringify(configuration))
    const args = ['--base-url', gateway.restUrl, '--config', file, '--junit', junit, '--json']
    const { code, out, err } = await runSuite(args, gateway.environment)
    expect([code, err.match(/^failed.*/gm)]).toEqual([0, null])
    const report = JSON.parse(out) as { passed: number; creditsSpent: number }
    expect(report).toMatchObject({ failed: 0, 'not testable': 2, passed: everyCase.length - 2 })
    const said = Number(/for (\d+) credits/.exec(err)?.[1])
    expect(report.creditsSpent).toBeGreaterThan(0)
    expect(report.creditsSpent).toBeLessThanOrEqual(said)
    const elsewhere = coveredElsewhere.length
    expect(await readFile(junit, 'utf8')).toContain(
      `tests="${everyCase.length + elsewhere}" failures="0" skipped="${2 + elsewhere}"`,
    )
  }
  if (whole.includes('the all-in-one'))
    test(
      'passes whole, by the command, and keeps its credits but for what the command said first',
      passesWhole,
      300_000,
    )

  test('a failed case is reported with what was asked and answered, without keys and passwords, and the command ends with 1', async () => {
    const proxy = await defectiveGateway(gateway.restUrl, configuration.accounts)
    try {
      proxy.plant({ fails: [], answer: (answered) => void (answered.text = answered.text.replace('OK', 'Yes')) })
      const [file, junit] = [join(gateway.folder, 'conformance.json'), join(gateway.folder, 'junit.xml')]
      await writeFile(file, JSON.stringify(configuration))
      const choice = ['--case', 'a key or a pair', '--case', 'no line break']
      const args = ['--base-url', proxy.url.href, '--config', file, '--junit', junit, ...choice]
      const { code, out, err } = await runSuite(args, gateway.environment)
      expect([code, err.match(/^failed.*/gm)?.length]).toEqual([1, 2])
      expect(out).toContain('last request and answer: GET /api/auth.asp?apikey=***: 200 Login=Yes')
      expect(out).toMatch(/^0 passed, 2 failed, 0 not testable here/m)
      const xml = await readFile(junit, 'utf8')
      expect(xml).toContain('tests="2" failures="2" skipped="0"')
      const { key, password } = configuration.accounts.main
      for (const secret of [key, password]) expect((out + err + xml).includes(secret)).toBe(false)
    } finally {
      await proxy.close()
    }
  }, 60_000)

  test('with a planted defect fails in the cases that are about it, each of which passes without', async () => {
    const proxy = await defectiveGateway(gateway.restUrl, configuration.accounts)
    const { delivered } = configuration.numbers
    /** Each run writes to numbers of its own. */
    let used = 1
    const failures = async (titles: readonly string[], defect?: Defect) => {
      proxy.plant(defect)
      const numbers = { ...configuration.numbers, delivered: [delivered[0] ?? '', ...delivered.slice(used)] }
      used = (used + 3) % 30
      const { results } = await runConformance({
        addresses: { rest: proxy.url, asp: proxy.url, xml: proxy.url },
        configuration: { ...configuration, numbers },
        choice: { sections: [], titles },
        bringReply: replyIn(gateway.environment),
      })
      return results.filter(({ outcome }) => outcome.is === 'failed').map((one) => one.case.title)
    }
    try {
      const defects = Object.entries(plantedDefects)
      expect(defects.length).toBeGreaterThanOrEqual(20)
      const missed: string[] = []
      for (const [name, defect] of defects) {
        const failed = await failures(defect.fails, defect)
        for (const title of defect.fails)
          if (!failed.some((one) => one.includes(title))) missed.push(`${name}: ${title}`)
      }
      expect(missed).toEqual([])
      expect(await failures(defects.flatMap(([, { fails }]) => fails))).toEqual([])
    } finally {
      await proxy.close()
    }
  }, 300_000)
})

const fiveProcessesPassWhole = async (): Promise<void> => {
  const origin = 'https://app.example.com'
  const gateway = await startFiveProcesses({ CORS_ORIGINS: origin })
  try {
    const configuration = { ...(await prepared(gateway.environment)), corsOrigin: origin }
    const addresses = { rest: new URL(gateway.restUrl), asp: new URL(gateway.aspUrl), xml: new URL(gateway.xmlUrl) }
    const summary = await runConformance({ addresses, configuration, bringReply: replyIn(gateway.environment) })
    const failed = summary.results.filter(({ outcome }) => outcome.is === 'failed')
    expect(failed.length === 0 ? '' : textReport(summary)).toBe('')
    expect(summary.results.filter(({ outcome }) => outcome.is === 'not testable').map((one) => one.case.title)).toEqual(
      ['a key that is expired is answered as a wrong one, on every interface'],
    )
  } finally {
    await gateway.stop()
  }
}
if (whole.includes('five processes'))
  test('rest, asp, xml and two dispatchers as processes of their own pass whole', fiveProcessesPassWhole, 300_000)
