import type { BulkSendId } from '@gateway/core/bulk-sends'
import { anAccountId, memoryPorts, until } from '@gateway/core/testing'
import { createLog, type Repeated } from '@gateway/server'
import { createBulkCalls } from './send-bulk-calls.ts'

const log = createLog({ level: 'silent', name: 'test' })
const send = [anAccountId(1), 1 as BulkSendId, 1] as const
let sending: Repeated | undefined
afterEach(() => sending?.stop())

/** Starts the loop on a port whose sends change as `isChanged` says, and counts the polls for calls. */
function start(isChanged: boolean) {
  const changed = () => Promise.resolve(isChanged)
  const bulkCalls = createBulkCalls()
  const waking = bulkCalls.waking({ ...memoryPorts().bulkSends, start: changed, stop: changed })
  let polls = 0
  sending = bulkCalls.start(() => {
    polls += 1
    return Promise.resolve('nothing')
  }, log)
  return { waking, polls: () => polls }
}

test.each(['start', 'stop'] as const)('a call to %s a send ends the long pause between polls', async (name) => {
  const { waking, polls } = start(true)
  await until(() => polls() === 1)
  const [account, id, revision] = send
  expect(await (name === 'start' ? waking.start(account, id, revision) : waking.stop(account, id))).toBe(true)
  await until(() => polls() === 2)
})

test('a send that was not started leaves the pause as it is', async () => {
  const { waking, polls } = start(false)
  await until(() => polls() === 1)
  expect(await waking.start(...send)).toBe(false)
  await new Promise(setImmediate)
  expect(polls()).toBe(1)
})
