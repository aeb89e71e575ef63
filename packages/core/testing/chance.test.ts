import { chanceOf, testChance, testSeed } from './chance.ts'

test('the same seed gives the same numbers, another seed others', () => {
  const some = (seed: number) =>
    Array.from(
      { length: 20 },
      (
        (chance) => () =>
          chance.below(1000)
      )(chanceOf(seed)),
    )
  expect(some(1)).toEqual(some(1))
  expect(some(1)).not.toEqual(some(2))
})

test('numbers stay within their bounds, and a list is shuffled without a loss', () => {
  const chance = chanceOf(7)
  const tens = Array.from({ length: 1000 }, () => chance.below(10))
  expect([Math.min(...tens), Math.max(...tens)]).toEqual([0, 9])
  const between = Array.from({ length: 1000 }, () => chance.between(2, 3))
  expect(between.every((number) => number >= 2 && number < 3)).toBe(true)
  expect(chance.shuffled(tens).sort()).toEqual(tens.sort())
  expect(() => chance.one([])).toThrow('nothing to choose from')
})

describe('the seed of a test', () => {
  const before = process.env['TEST_SEED']
  const write = process.stderr.write.bind(process.stderr)
  const lines: string[] = []

  beforeEach(() => {
    lines.length = 0
    process.stderr.write = (line) => lines.push(String(line)) > 0
  })
  afterEach(() => {
    process.stderr.write = write
    if (before === undefined) delete process.env['TEST_SEED']
    else process.env['TEST_SEED'] = before
  })

  test('a seed is created if none is given, and printed on one line, so that the run can be repeated', () => {
    delete process.env['TEST_SEED']
    const seed = testSeed()
    expect(seed).toBeLessThan(2 ** 32)
    expect(lines).toEqual([`TEST_SEED=${seed} makes the same random choices again\n`])
    process.env['TEST_SEED'] = String(seed)
    expect(testSeed()).toBe(seed)
  })

  test.each(['', '-1', '1.5', 'x', '4294967296'])('is refused where it is %j', (text) => {
    process.env['TEST_SEED'] = text
    expect(() => testSeed()).toThrow(`TEST_SEED is "${text}"`)
  })

  test('the seed is printed once, however often a test uses random values', () => {
    delete process.env['TEST_SEED']
    const chance = testChance()
    expect(testChance()).toBe(chance)
    expect(lines).toHaveLength(1)
  })
})
