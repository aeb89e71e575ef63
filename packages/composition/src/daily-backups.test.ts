import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { keepDailyBackups, type DailyBackups } from './daily-backups.ts'

const now = Date.parse('2026-11-18T08:00:00Z')
const nameOf = (at: number) => `gateway-${new Date(at).toISOString().replace(/[-:]|\.\d+/g, '')}.backup`
let parent: string
let folder: string

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'gateway-daily-'))
  folder = join(parent, 'backups')
})
afterEach(() => rm(parent, { recursive: true }))

/** Runs daily backups until `isOver` returns true. Each backup calls `between` once. */
async function keep(other: Partial<DailyBackups>, isOver: (lines: readonly string[]) => boolean | Promise<boolean>) {
  const logLines: string[] = []
  const writeLine = (fields: object, line: string) => void logLines.push(`${line} ${JSON.stringify(fields)}`)
  let stop: (() => Promise<void> | void) | undefined
  let made = 0
  const backUp: DailyBackups['backUp'] = async (into, between) => {
    await between()
    const file = join(into, nameOf(now + made++ * 1000))
    await writeFile(file, '')
    return { file, bytes: 0, rows: 7 }
  }
  const log = { info: writeLine, warn: writeLine } as unknown as Parameters<typeof keepDailyBackups>[0]['log']
  keepDailyBackups(
    { log, onStop: (_what, how) => void (stop = how) },
    {
      folder,
      backUp,
      runExclusively: (_what, work) => work(),
      clock: { now: () => now },
      bytesLeft: () => Promise.resolve(2 ** 40),
      firstMilliseconds: 1,
      everyMilliseconds: 1,
      ...other,
    },
  )
  await until(() => isOver(logLines))
  await stop?.()
  return logLines
}

test('a backup is made if the newest is a day old, the newest seven are kept, and the next check makes none', async () => {
  await keep({}, async () => (await readdir(folder).catch(() => [])).length === 1)
  const old = Array.from({ length: 8 }, (_, days) => nameOf(now - (days + 1) * 86_400_000))
  await rm(join(folder, nameOf(now)))
  for (const name of old) await writeFile(join(folder, name), '')
  let looks = 0
  const logLines = await keep({ runExclusively: (_what, work) => (looks++, work()) }, () => looks > 3)
  expect((await readdir(folder)).toSorted()).toEqual([nameOf(now), ...old.slice(0, 6)].toSorted())
  expect(logLines).toEqual([expect.stringMatching(/^made the daily backup .*"rows":7,"deleted":2}$/)])
})

test('a failed backup is logged and tried again, and the process continues', async () => {
  let tries = 0
  const backUp = () => (tries++, Promise.reject(new Error('no luck')))
  const logLines = await keep({ backUp }, () => tries > 2)
  expect(logLines.slice(0, 2)).toEqual(Array(2).fill('the daily backup failed {"reason":"no luck"}'))
})

test('with less than 1 GiB of free space no backup is started, and a running one ends', async () => {
  const logLines = await keep({ bytesLeft: () => Promise.resolve(2 ** 30 - 1) }, (lines) => lines.length > 0)
  expect(logLines[0]).toBe('the daily backup failed {"reason":"less than 1 GiB of the disk is free"}')
  expect(await readdir(folder)).toEqual([])
})

test('a stop ends a running backup without a log line', async () => {
  let began = false
  let ended = false
  const backUp: DailyBackups['backUp'] = async (_into, between) => {
    began = true
    try {
      for (;;) await new Promise((resolve) => setTimeout(resolve, 30)).then(between)
    } finally {
      ended = true
    }
  }
  expect(await keep({ backUp }, () => began)).toEqual([])
  expect(ended).toBe(true)
})
