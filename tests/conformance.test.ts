import { readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { coveredElsewhere, everyCase, runConformance, textReport } from '@gateway/conformance'
import { readCitable } from './support/citations.ts'
import { wrongBeginnings } from './support/contract-sentences.ts'
import { addressesOf, startMemoryConformance, type MemoryConformance } from './support/memory-conformance.ts'
import { root } from './support/process.ts'
import { sentenceCases } from './support/sentence-cases.ts'
// Every answer is also compared with the documents of its interface.
import '../apps/asp/testing/checked-answers.ts'
import '../apps/rest/testing/checked-answers.ts'
import '../apps/xml/testing/checked-answers.ts'

// All interfaces run in this process on memory ports; a deployed system is tested by deployed-conformance.test.ts.

/** Headings without promises of their own. */
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
  const exists = ([number, by]: readonly [string, string]): boolean =>
    by === 'nothing' ||
    (by.endsWith('.ts')
      ? existsSync(join(root, by))
      : everyCase.some(({ of, title }) => of.includes(number) && title.includes(by)))
  const cited = Object.entries(sentenceCases).flatMap(([of, some]) => some.map(([, by]) => [of, by] as const))
  expect(cited.filter((one) => !exists(one))).toEqual([])
  for (const [sentence, instead] of [
    ['Unknown fields are ignored.', 'Unknown fields are ignored. They may be of any type.'],
    ['Missing or empty: 401. ', ''],
    ['| 108  | SKIPPED                                     |', '| 109  | SKIPPED |'],
  ] as const) {
    expect(contract).toContain(sentence)
    expect(wrongBeginnings(contract.replace(sentence, instead), sentenceCases)).not.toEqual([])
  }
})

describe('the three interfaces on memory ports', () => {
  let gateway: MemoryConformance
  beforeAll(async () => void (gateway = await startMemoryConformance()))
  afterAll(() => gateway.stop())

  test('pass every case', async () => {
    const { url, configuration, bringReply } = gateway
    const summary = await runConformance({ addresses: addressesOf(url), configuration, bringReply })
    const failed = summary.results.filter(({ outcome }) => outcome.is !== 'passed')
    expect(failed.length === 0 ? '' : textReport(summary)).toBe('')
    expect(summary.results).toHaveLength(everyCase.length)
  }, 300_000)

  test('cases that need a reply are not testable, with a reason, if the command brings no reply into this gateway', async () => {
    const result = await runConformance({
      addresses: addressesOf(gateway.url),
      configuration: { ...gateway.configuration, deliverySeconds: 2 },
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
      /^replies\.command does not deliver a reply to this gateway: not observed within 2 s: the reply of \d+\. It must/,
    )
  })
})
