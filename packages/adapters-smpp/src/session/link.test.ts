import { LinkOutage } from './link-outage.ts'

const refused = 'connect ECONNREFUSED'
const wrong = 'the bind was refused: ESME_RINVPASWD'

function anOutage() {
  const lines: string[] = []
  let seconds = 0
  const outage = new LinkOutage(
    { failed: (text) => lines.push(`error: ${text}`), works: (text) => lines.push(`warn: ${text}`) },
    () => seconds * 1000,
  )
  return {
    lines,
    outage,
    wait: (more: number) => void (seconds += more),
    /** Reports a failure `times` times, at intervals of one second. */
    fail: (times: number, reason = refused, bound = 0, all = 1): void => {
      for (let i = 0; i < times; i++) {
        outage.failed(reason, bound, all)
        seconds++
      }
    },
  }
}

test('a link that fails for 50 s is reported once, and its return once', () => {
  const { lines, outage, fail } = anOutage()
  fail(50)
  outage.bound(1, 1)
  expect(lines).toEqual([`error: ${refused}`, 'warn: its link is bound again after 50 s'])
})

test('a link that stays away is reported once a minute, with the number of failures in between', () => {
  const { lines, fail } = anOutage()
  fail(150)
  expect(lines).toEqual([
    `error: ${refused}`,
    `error: ${refused}; 59 failures before, its link is not bound after 60 s`,
    `error: ${refused}; 59 failures before, its link is not bound after 120 s`,
  ])
})

test('another reason is reported at once', () => {
  const { lines, fail } = anOutage()
  fail(5)
  fail(5, wrong)
  fail(5)
  expect(lines).toEqual([`error: ${refused}`, `error: ${wrong}; 4 failures before, its link is not bound after 5 s`])
})

test('of several links the number that are bound is reported', () => {
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

test('a link that is bound and lost each second is reported three times a minute', () => {
  const { lines, outage, fail } = anOutage()
  for (let i = 0; i < 120; i++) {
    fail(1)
    outage.bound(1, 1)
  }
  expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(6)
  expect(lines.filter((line) => line.startsWith('warn'))).toHaveLength(6)
})

test('the end of an outage is reported if its beginning was, even after too many reports', () => {
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

test('links that are bound are not reported', () => {
  const { lines, outage, wait } = anOutage()
  outage.bound(1, 2)
  wait(100)
  outage.bound(2, 2)
  expect(lines).toEqual([])
})
