import { createProcessing, type Processing } from '@gateway/core'
import { dispatcherDefaults } from '@gateway/core/dispatch'
import type { DroppedHistory } from '@gateway/core/messages'
import {
  anAccount,
  anOrder,
  memoryStore,
  memoryStoredPorts,
  numbers,
  steppingClock,
  until,
} from '@gateway/core/testing'
import { createLog, repeat } from '@gateway/server'
import { startDispatching } from './dispatch.ts'
import type { Idling } from './idling.ts'
import { droppingHistory, startChores } from './chores.ts'

function listeningLog() {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>)
  return { log: createLog({ level: 'info', name: 'test', destination: { write } }), lines }
}

test('old history is dropped in steps and logged once', async () => {
  const steps: DroppedHistory[] = [
    { partitions: 1, sends: 5, messages: 50, progress: 'more' },
    { partitions: 0, sends: 2, messages: 7, progress: 'more' },
    { partitions: 0, sends: 0, messages: 0, progress: 'all' },
  ]
  const { log, lines } = listeningLog()
  const dropping = repeat(
    droppingHistory(
      { purge: () => Promise.resolve(steps.shift() ?? { partitions: 0, sends: 0, messages: 0, progress: 'all' }) },
      log,
    ),
  )
  await until(() => lines.length > 0)
  await dropping.stop()
  expect(lines).toMatchObject([{ level: 'info', partitions: 1, sends: 7, messages: 57 }])
  expect(steps).toEqual([])
})

test('without old history, or while another process drops it, nothing is logged', async () => {
  const { log, lines } = listeningLog()
  let calls = 0
  const purge = () =>
    Promise.resolve({ partitions: 0, sends: 0, messages: 0, progress: calls++ ? 'all' : 'busy' } as const)
  const dropping = repeat(droppingHistory({ purge }, log))
  await until(() => calls > 0)
  await dropping.stop()
  expect([calls, lines]).toEqual([1, []])
})

test('a dispatcher drops old history', async () => {
  const clock = steppingClock()
  const stored = memoryStoredPorts(memoryStore(clock))
  const { id } = await anAccount(stored)
  await stored.messages.accept(anOrder(id, { to: numbers(3) }))
  await createProcessing({ ...stored, clock }).expire(-1)
  clock.step(91 * 86_400)
  const { log, lines } = listeningLog()
  const dispatching = startDispatching({ ports: { ...stored, clock }, carriers: [], log })
  await until(() => lines.some(({ messages }) => messages === 3))
  await dispatching.stop(5)
  expect(lines).toMatchObject([{ level: 'info', partitions: 0, sends: 1, messages: 3 }])
})

test('chores start one after the other, even behind a hanging first run, and a stop does not wait for chores not yet started', async () => {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const { log } = listeningLog()
  const processing = new Proxy({} as Processing, {
    get: (_, method: string) => () => {
      begun.push(method)
      return new Promise((resolve) => ends.push(() => resolve({ requeued: 0, unknown: 0, progress: 'all' })))
    },
  })
  const idling = { pause: () => 1000 } as Idling
  const chores = startChores(processing, idling, log, dispatcherDefaults, () => undefined)
  await until(() => begun.length > 0)
  expect(begun).toEqual(['recover'])
  ends[0]?.()
  await until(() => begun.length === 3)
  const stopped = Promise.all(chores.map((each) => each.stop()))
  for (const end of ends) end()
  await stopped
  expect(begun).toEqual(['recover', 'matchReceipts', 'reroute'])
})
