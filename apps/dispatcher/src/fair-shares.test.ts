import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@gateway/adapters-node'
import { postgresPorts } from '@gateway/adapters-postgres'
import { carrierId, secondsAfter, type AccountId, type Carrier, type Instant, type StoredPorts } from '@gateway/core'
import { aNumber, anAccount, anOrder, numbers, until } from '@gateway/core/testing'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { createLog } from '@gateway/server'
import { startDispatching } from './dispatch.ts'

const backlog = 200_000
const atOnce = 1000
const log = createLog({ level: 'silent', name: 'test' })

/** Accepts everything at once, notes when what came, and sends no receipts. */
function stopwatchCarrier(): Carrier & { readonly submitted: Map<number, number> } {
  const submitted = new Map<number, number>()
  let reference = 0
  return {
    id: carrierId('stopwatch') ?? ('' as never),
    window: 500,
    submitted,
    submit: (messages, answered) => {
      const now = performance.now()
      for (const { id } of messages) submitted.set(id, now)
      const answers = messages.map(({ id }) => ({ id, outcome: 'accepted' as const, reference: String(++reference) }))
      setImmediate(() => answered(answers))
    },
    listen: () => undefined,
    close: () => Promise.resolve(),
  }
}

const [to = aNumber()] = numbers(1)

async function queueUp(ports: StoredPorts, account: AccountId, due?: Instant): Promise<void> {
  const one = () => ports.messages.accept(anOrder(account, { to: [to], ...(due === undefined ? {} : { due }) }))
  for (let sent = 0; sent < backlog; sent += atOnce) {
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

/** A database of its own, for its backlog would be in others' way; nothing here is about crashes. */
async function withPorts(check: (ports: StoredPorts) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gw-'))
  await chmod(dataDir, 0o755)
  const database = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } })
  const postgres = postgresPorts({ connectionString: database.connectionString })
  try {
    await postgres.migrate()
    await check(postgres.ports)
  } finally {
    await postgres.close()
    await database.stop()
    await removeCluster(dataDir)
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** How long it took to accept the backlog. */
let queueSeconds = 45

describe('behind 200 000 single messages of one account another account waits no longer than 2 s', () => {
  test(
    'for a message that it sends while they are due',
    () =>
      withPorts(async (ports) => {
        const [busy, other] = [await anAccount(ports, { credits: backlog * 10 }), await anAccount(ports)]
        const began = performance.now()
        await queueUp(ports, busy.id)
        queueSeconds = (performance.now() - began) / 1000
        const carrier = stopwatchCarrier()
        const dispatching = startDispatching({ ports: { ...ports, clock: systemClock() }, carriers: [carrier], log })
        try {
          await until(() => carrier.submitted.size > 1000, 30_000)
          const started = performance.now()
          const id = await sendOne(ports, other.id)
          const at = await until(() => carrier.submitted.get(id), 30_000)
          expect(carrier.submitted.size).toBeLessThan(backlog)
          expect(at - started).toBeLessThan(2000)
        } finally {
          await dispatching.stop(10)
        }
      }),
    240_000,
  )

  test(
    'for a message that falls due together with them',
    () =>
      withPorts(async (ports) => {
        const [busy, other] = [await anAccount(ports, { credits: backlog * 10 }), await anAccount(ports)]
        // Far enough ahead that this machine, under the load of this moment, has accepted them all before.
        const due = secondsAfter(systemClock().now(), 5 + queueSeconds * 2)
        await queueUp(ports, busy.id, due)
        const id = await sendOne(ports, other.id, due)
        const carrier = stopwatchCarrier()
        const dispatching = startDispatching({ ports: { ...ports, clock: systemClock() }, carriers: [carrier], log })
        try {
          const at = await until(() => carrier.submitted.get(id), 120_000)
          const late = Date.now() - (performance.now() - at) - due
          expect(carrier.submitted.size).toBeLessThan(backlog)
          expect(late).toBeLessThan(2000)
        } finally {
          await dispatching.stop(10)
        }
      }),
    300_000,
  )
})
