import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@gateway/adapters-node'
import { postgresPorts } from '@gateway/adapters-postgres'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { wrapCarrier, type Carrier } from '@gateway/core/dispatch'
import { secondsAfter, type Instant } from '@gateway/core/time'
import { aNumber, anAccount, anOrder, numbers, scriptedCarrier, until } from '@gateway/core/testing'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { createLog } from '@gateway/server'
import { patientSettings } from '../../../packages/adapters-postgres/testing/patient-settings.ts'
import { query } from '../../../packages/embedded-postgres/testing/query.ts'
import { startDispatching } from './dispatch.ts'

const backlog = 20_000
const atOnce = 1000
const log = createLog({ level: 'silent', name: 'test' })

/**
 * Creates a carrier that accepts every message at once, records the time of each submission in order, and sends no
 * receipts.
 */
function stopwatchCarrier(): Carrier & { readonly submitted: Map<number, number> } {
  const submitted = new Map<number, number>()
  let reference = 0
  const submit: Carrier['submit'] = (messages, answered) => {
    const now = Date.now()
    for (const { id } of messages) submitted.set(id, now)
    const answers = messages.map(({ id }) => ({ id, outcome: 'accepted' as const, reference: String(++reference) }))
    setImmediate(() => answered(answers))
  }
  return { ...wrapCarrier(scriptedCarrier({ id: 'stopwatch', window: 500 }), { submit }), submitted }
}

const [to = aNumber()] = numbers(1)

/** Queues the whole backlog as single messages of one account that all become due at the same time. */
async function queueUp(ports: StoredPorts, account: AccountId, due: Instant): Promise<void> {
  const one = () => ports.messages.accept(anOrder(account, { to: [to], due }))
  for (let queued = 0; queued < backlog; queued += atOnce) {
    const accepted = await Promise.all(Array.from({ length: atOnce }, one))
    if (accepted.some((each) => typeof each === 'string')) throw new Error('a message of the backlog was refused')
  }
}

async function sendOne(ports: StoredPorts, account: AccountId, due?: Instant): Promise<number> {
  const accepted = await ports.messages.accept(anOrder(account, { to: [to], ...(due === undefined ? {} : { due }) }))
  const id = typeof accepted === 'object' ? accepted.results[0]?.[0] : undefined
  if (typeof id !== 'number') throw new Error('the single message was refused')
  return id
}

/** Uses its own database, because its backlog would slow other tests down. */
async function withPorts(check: (ports: StoredPorts, connectionString: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(process.env['GATEWAY_TEST_FOLDER'] ?? tmpdir(), 'gw-'))
  await chmod(dataDir, 0o755)
  const database = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } })
  const { connectionString } = database
  const postgres = postgresPorts({ connectionString, settings: patientSettings })
  try {
    await postgres.migrate()
    await check(postgres.ports, connectionString)
  } finally {
    await postgres.close()
    await database.stop()
    await removeCluster(dataDir)
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Returns how many messages were submitted before the message `id`. */
const leftBefore = (id: number, submitted: ReadonlyMap<number, number>): number => [...submitted.keys()].indexOf(id)

// The order of submissions is checked instead of seconds, because a busy machine is slower but keeps the order.
test(
  'behind 20 000 single messages of one account another account waits for less than a tenth of them',
  () =>
    withPorts(async (ports, connectionString) => {
      const [busy, other] = [await anAccount(ports, { credits: backlog * 10 }), await anAccount(ports)]
      const inAnHour = secondsAfter(systemClock().now(), 3600)
      await queueUp(ports, busy.id, inAnHour)
      const scheduled = await sendOne(ports, other.id, inAnHour)
      // Make all messages due at one moment, no matter how long it took to queue them.
      const moved = await query(connectionString, 'update later set at = now() returning 1')
      expect(moved).toHaveLength(backlog + 1)

      const carrier = stopwatchCarrier()
      const { submitted } = carrier
      const dispatching = startDispatching({ ports: { ...ports, clock: systemClock() }, carriers: [carrier], log })
      try {
        // The message of the other account that becomes due together with the backlog.
        await until(() => submitted.has(scheduled), 120_000)
        expect(leftBefore(scheduled, submitted)).toBeLessThan(backlog / 10)
        // A message of the other account that is sent while the backlog is due.
        const before = submitted.size
        const sentNow = await sendOne(ports, other.id)
        await until(() => submitted.has(sentNow), 120_000)
        expect(leftBefore(sentNow, submitted) - before).toBeLessThan(backlog / 10)
        expect(submitted.size).toBeLessThan(backlog)
      } finally {
        await dispatching.stop(10)
      }
    }),
  300_000,
)
