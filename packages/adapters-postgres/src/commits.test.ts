import { Client } from 'pg'
import { commitsContract, type HeldPorts } from '@gateway/core/contracts'
import type { StoredPorts } from '@gateway/core'
import type { Messages } from '@gateway/core/messages'
import { freshDatabase } from '../testing/fresh-database.ts'
import { patientSettings } from '../testing/patient-settings.ts'
import { postgresPorts } from './postgres-ports.ts'

/**
 * SQL for a trigger that makes each transaction that updates an account wait at its commit for the holder of a lock.
 */
const waitingAtCommit = `
create function wait_at_commit() returns trigger language plpgsql as $$
begin perform pg_advisory_xact_lock_shared(72); return null; end $$;
create constraint trigger wait_at_commit after update on account deferrable initially deferred
for each row execute function wait_at_commit()`

async function withHeldPorts(
  change: (ports: StoredPorts) => StoredPorts,
  work: (heldPorts: HeldPorts) => Promise<void>,
) {
  const database = await freshDatabase()
  const { connectionString } = database
  const { ports, close } = postgresPorts({ connectionString, settings: patientSettings })
  const client = new Client({ connectionString })
  await client.connect()
  await client.query(waitingAtCommit)
  try {
    const holdCommits = async () => {
      await client.query('select pg_advisory_lock(72)')
      return async () => {
        await client.query('select pg_advisory_unlock(72)')
      }
    }
    await work({ ports: change(ports), holdCommits })
  } finally {
    await Promise.all([close(), client.end()])
    await database.drop()
  }
}

test.each(Object.entries(commitsContract))('%s', async (_, check) => {
  await withHeldPorts((ports) => ports, check)
})

/** Store that may answer after 60 ms, before the commit. It can do so because the ids are known before the commit. */
const answeringEarly = (messages: Messages): Messages => ({
  ...messages,
  accept: async (order) => {
    const committed = messages.accept(order)
    if (order.texts.every(({ to }) => to.length === 1)) return committed
    const ids = order.texts.map(({ to }) => to.map((_, i) => i + 2))
    const early = new Promise((resolve) => setTimeout(resolve, 60, { results: ids, balance: 0 }))
    return (await Promise.race([committed, early])) as Awaited<typeof committed>
  },
})

test('the contract detects a store that answers after 60 ms and commits later', async () => {
  const early = (ports: StoredPorts) => ({ ...ports, messages: answeringEarly(ports.messages) })
  const [name = ''] = Object.keys(commitsContract)
  await withHeldPorts(early, async (ports) => {
    await expect(commitsContract[name]?.(ports)).rejects.toMatchObject({
      actual: ['not-found', 'not-found', 'not-found'],
    })
  })
})
