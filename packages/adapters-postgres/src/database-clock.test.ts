import { DatabaseClock } from './database-clock.ts'

/** Database with the right time, and a machine whose clock the test sets and advances. */
function aMachine(machineAhead = 0) {
  let passed = 0
  let ahead = machineAhead
  let wayMilliseconds = 0
  let answers = 0
  let isAway = false
  const start = Date.UTC(2026, 9, 18, 8)
  const lines: string[] = []
  const ask = (): Promise<number> => {
    if (isAway) return Promise.reject(new Error('away'))
    answers++
    passed += wayMilliseconds
    const time = start + passed
    passed += wayMilliseconds
    return Promise.resolve(time)
  }
  const clock = new DatabaseClock({
    ask,
    log: { info: (text) => lines.push(`info ${text}`), warn: (text) => lines.push(`warn ${text}`) },
    machine: () => start + passed + ahead,
    elapsed: () => passed,
  })
  return {
    clock,
    lines,
    pass: (milliseconds: number) => (passed += milliseconds),
    set: (milliseconds: number) => (ahead = milliseconds),
    setWay: (milliseconds: number) => (wayMilliseconds = milliseconds),
    setAway: (to: boolean) => (isAway = to),
    answers: () => answers,
    /** Difference between the clock and the database's time. */
    error: () => clock.now() - (start + passed),
  }
}

const hour = 3_600_000

test('before the first answer the clock shows the time of the machine', () => {
  const machine = aMachine(55 * hour)
  expect([machine.error(), machine.clock.offsetSeconds()]).toEqual([55 * hour, 0])
})

test.each([55 * hour, -55 * hour, 3000, -3000])(
  'on a machine that is wrong by %d ms the clock shows the time of the database, and logs it once',
  async (wrong) => {
    const machine = aMachine(wrong)
    machine.setWay(2)
    await machine.clock.compare()
    machine.pass(50_000)
    expect(Math.abs(machine.error())).toBeLessThanOrEqual(4)
    await machine.clock.compare()
    expect(Math.abs(machine.clock.offsetSeconds() - wrong / 1000)).toBeLessThan(0.01)
    expect(machine.lines).toEqual([
      `warn the clock of this machine is ${Math.abs(wrong) / 1000} s ${wrong > 0 ? 'ahead of' : 'behind'} the database's, ` +
        'which is used instead: set it right',
    ])
    await machine.clock.close()
  },
)

test('setting the clock of the machine while the process runs changes nothing and causes a comparison at once', async () => {
  const machine = aMachine()
  await machine.clock.compare()
  machine.pass(30_000)
  machine.set(55 * hour)
  expect(machine.error()).toBe(0)
  await Promise.resolve()
  await Promise.resolve()
  expect(machine.clock.offsetSeconds()).toBe(55 * 3600)
  machine.pass(2000)
  expect(machine.error()).toBe(0)
  expect(machine.answers()).toBe(2)
  machine.set(0)
  machine.clock.now()
  await Promise.resolve()
  await Promise.resolve()
  expect(machine.lines.at(-1)).toBe("info the clock of this machine agrees with the database's again")
  await machine.clock.close()
})

test('a difference below two seconds is not logged', async () => {
  const machine = aMachine(1900)
  await machine.clock.compare()
  expect(machine.lines).toEqual([])
  expect(machine.error()).toBe(0)
  await machine.clock.close()
})

test('a slow answer changes the clock only if it contradicts it', async () => {
  const machine = aMachine()
  await machine.clock.compare()
  machine.setWay(4000)
  await machine.clock.compare()
  expect([machine.error(), machine.clock.offsetSeconds()]).toEqual([0, 0])
  await machine.clock.close()
})

test('while the database is away the clock continues, and compares at most once a second', async () => {
  const machine = aMachine(10 * hour)
  await machine.clock.compare()
  machine.setAway(true)
  machine.set(20 * hour)
  machine.pass(1500)
  for (let i = 0; i < 100; i++) expect(machine.error()).toBe(0)
  await expect(machine.clock.compare()).rejects.toThrow('away')
  machine.setAway(false)
  machine.pass(1500)
  machine.clock.now()
  await Promise.resolve()
  await Promise.resolve()
  expect(machine.clock.offsetSeconds()).toBe(20 * 3600)
  await machine.clock.close()
})

test('closing waits for the comparison in progress and begins none', async () => {
  let answer = (_at: number): void => undefined
  let comparisons = 0
  let passed = 0
  const ask = (): Promise<number> => {
    comparisons++
    return comparisons === 1 ? Promise.resolve(0) : new Promise((resolve) => (answer = resolve))
  }
  const log = { info: () => undefined, warn: () => undefined }
  const machine = { ahead: 0 }
  const clock = new DatabaseClock({ ask, log, machine: () => passed + machine.ahead, elapsed: () => passed })
  await clock.compare()
  machine.ahead = 5000
  passed = 2000
  clock.now()
  expect(comparisons).toBe(2)
  let isClosed = false
  const closing = clock.close().then(() => (isClosed = true))
  await new Promise(setImmediate)
  expect(isClosed).toBe(false)
  machine.ahead = 0
  passed = 4000
  clock.now()
  answer(4000)
  await closing
  expect(comparisons).toBe(2)
})
