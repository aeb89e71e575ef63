import { createLinkOutage } from './link-outage.ts'

const refused = 'connect ECONNREFUSED'
const wrong = 'the bind was refused: ESME_RINVPASWD'

function anOutage() {
  const lines: string[] = []
  let seconds = 0
  const outage = createLinkOutage(
    { failed: (what) => lines.push(`error: ${what}`), works: (what) => lines.push(`warn: ${what}`) },
    () => seconds * 1000,
  )
  return {
    lines,
    outage,
    wait: (more: number) => void (seconds += more),
    /** One try each second. */
    fail: (times: number, reason = refused, bound = 0, all = 1): void => {
      for (let i = 0; i < times; i++) {
        outage.failed(reason, bound, all)
        seconds++
      }
    },
  }
}

test('a link that is away for 50 s of tries is told once, and once that it is back', () => {
  const { lines, outage, fail } = anOutage()
  fail(50)
  outage.bound(1, 1)
  expect(lines).toEqual([`error: ${refused}`, 'warn: its link is bound again after 50 s'])
})

test('a link that stays away is told again once a minute, with what was not told', () => {
  const { lines, fail } = anOutage()
  fail(150)
  expect(lines).toEqual([
    `error: ${refused}`,
    `error: ${refused}; 59 failures before, its link is not bound after 60 s`,
    `error: ${refused}; 59 failures before, its link is not bound after 120 s`,
  ])
})

test('another reason is told at once', () => {
  const { lines, fail } = anOutage()
  fail(5)
  fail(5, wrong)
  fail(5)
  expect(lines).toEqual([`error: ${refused}`, `error: ${wrong}; 4 failures before, its link is not bound after 5 s`])
})

test('of several links it is told how many are left', () => {
  const { lines, outage, fail } = anOutage()
  fail(3, refused, 1, 2)
  fail(3, refused, 0, 2)
  outage.bound(1, 2)
  fail(3, refused, 1, 2)
  outage.bound(2, 2)
  expect(lines).toEqual([
    `error: ${refused}`,
    `error: ${refused}; 2 failures before, 0 of 2 links are bound after 3 s`,
    'warn: 1 of 2 links are bound again after 6 s',
    'warn: 2 of 2 links are bound again after 9 s',
  ])
})

test('a link that is bound and lost each second is told three times a minute', () => {
  const { lines, outage, fail } = anOutage()
  for (let i = 0; i < 120; i++) {
    fail(1)
    outage.bound(1, 1)
  }
  expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(6)
  expect(lines.filter((line) => line.startsWith('warn'))).toHaveLength(6)
})

test('an end of the outage that begins in the silence of too many lines is told if its beginning was', () => {
  const { lines, outage, wait, fail } = anOutage()
  for (let i = 0; i < 3; i++) {
    fail(1)
    outage.bound(1, 1)
  }
  fail(10)
  outage.bound(1, 1)
  expect(lines).toHaveLength(6)
  fail(60)
  wait(1)
  outage.bound(1, 1)
  expect(lines.slice(6)).toEqual([
    expect.stringContaining(`error: ${refused}; `),
    expect.stringContaining('warn: its link is bound again'),
  ])
})

test('nothing is told of links that are bound', () => {
  const { lines, outage, wait } = anOutage()
  outage.bound(1, 2)
  wait(100)
  outage.bound(2, 2)
  expect(lines).toEqual([])
})
