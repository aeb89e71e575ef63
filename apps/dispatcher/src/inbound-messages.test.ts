import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simulatedCarrier } from '@gateway/adapters-simulator'
import { processingDefaults } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import { wrapCarrier } from '@gateway/core/dispatch'
import { confirmationOf, type InboundMessage } from '@gateway/core/inbox'
import { instant } from '@gateway/core/time'
import {
  anAccount,
  anOrder,
  memoryStore,
  memoryStoredPorts,
  numbers,
  scriptedCarrier,
  steppingClock,
  until,
} from '@gateway/core/testing'
import { createLog } from '@gateway/server'
import { startDispatching, type Dispatching, type DispatchSettings } from './dispatch.ts'

const started: Dispatching[] = []
let folder: string
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'inboundMessages-'))))
afterEach(async () => {
  await Promise.all(started.splice(0).map((dispatching) => dispatching.stop(5)))
  await rm(folder, { recursive: true })
})

async function aWorld() {
  const clock = steppingClock()
  const stored = memoryStoredPorts(memoryStore(clock))
  const account = await anAccount(stored)
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>)
  const log = createLog({ level: 'debug', name: 'test', destination: { write } })
  return {
    ports: { ...stored, clock },
    clock,
    account,
    lines,
    inbox: async ({ id }: Account = account) =>
      (await stored.inbox.list(id, 'all', instant(0), { offset: 0, limit: 100 })).items,
    start: (rest: Partial<DispatchSettings>) => {
      const dispatching = startDispatching({
        ports: { ...stored, clock },
        carriers: [],
        log,
        poll: { pauseMilliseconds: 5 },
        ...rest,
      })
      started.push(dispatching)
      return dispatching
    },
  }
}

test('a person who answers STOP is opted out and gets one confirmation with the configured text; no text is logged', async () => {
  const { ports, account, lines, inbox, start } = await aWorld()
  const simulator = simulatedCarrier({ folder, delayMilliseconds: 0 })
  const submitted: string[] = []
  const carrier = wrapCarrier(simulator, {
    submit(messages, answered) {
      submitted.push(...messages.map(({ body }) => body.text))
      simulator.submit(messages, answered)
    },
  })
  const confirmation = confirmationOf('As you wish.')
  const dispatching = start({ carriers: [carrier], processing: { ...processingDefaults, confirmation } })
  await ports.messages.accept(anOrder(account.id, { to: numbers(3, '89') }))
  await until(() => submitted.length === 6)
  await until(() => dispatching.state()['simulator']?.uncommitted === 0)
  expect(submitted.toSorted()).toEqual([...Array<string>(3).fill('As you wish.'), ...Array<string>(3).fill('hello')])
  expect((await inbox()).map(({ from, text }) => [from, text])).toEqual(numbers(3, '89').map((to) => [to, 'STOP']))
  expect(await ports.suppressions.matching(account.id, numbers(3, '89'))).toHaveProperty('size', 3)
  expect(dispatching.inboundMessages()).toEqual({ simulator: { stored: 3, repeated: 0, incomplete: 0 } })
  expect(lines.filter(({ level }) => level === 'debug')).toContainEqual(
    expect.objectContaining({ carrier: 'simulator', msg: 'inbound messages received' }),
  )
  expect(JSON.stringify(lines)).not.toMatch(/STOP|hello|As you wish|2782/)
})

test('parts of an incomplete text are stored as they are after a day', async () => {
  const { ports, clock, account, inbox, start } = await aWorld()
  const carrier = scriptedCarrier()
  const first = start({ carriers: [carrier] })
  const [number = ''] = numbers(1)
  await ports.messages.accept(anOrder(account.id, { to: numbers(1) }))
  await until(() => carrier.submitted.length === 1)
  const part: InboundMessage = {
    carrier: carrier.id,
    from: number,
    to: undefined,
    text: 'the first half',
    sent: undefined,
    reference: undefined,
    offer: undefined,
    part: { group: 7, number: 1, of: 2 },
  }
  await carrier.arrive([part])
  expect(first.inboundMessages()).toEqual({ scripted: { stored: 0, repeated: 0, incomplete: 1 } })
  await first.stop(5)
  clock.step(24 * 3600 + 1)
  start({})
  await until(async () => (await inbox()).length === 1)
  expect(await inbox()).toMatchObject([{ from: number, text: 'the first half' }])
})
