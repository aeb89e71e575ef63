import { Client } from 'pg'
import type { StoredPorts } from '@gateway/core'
import type { ClaimedMessage, DispatcherId, ClaimedBatch, Lane, Recorded } from '@gateway/core/dispatch'
import { aCarrierId, anAccount, anOrder, numbers, testChance, until } from '@gateway/core/testing'
import { cutConnections } from '../testing/cut-connections.ts'
import { freshDatabase } from '../testing/fresh-database.ts'
import { postgresPorts } from './postgres-ports.ts'
import { patientSettings } from '../testing/patient-settings.ts'

const carrier = aCarrierId('sim')
const chance = testChance()

/** Repeats a call while the database cannot be reached, as its caller does. */
async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await call()
    } catch (error) {
      if (attempts === 100) throw error
    }
  }
}

/** Number of submissions, and number of temporary refusals by the carrier, for each message id. */
interface Handed {
  readonly submitted: Map<number, number>
  readonly refusedForNow: Map<number, number>
}

const count = (of: Map<number, number>, id: number) => of.set(id, (of.get(id) ?? 0) + 1)

/** Returns the carrier's answer, which depends on the id. */
function answerOf({ id, attempt }: ClaimedMessage): 'accepted' | 'refused' | 'unknown' | 'refused-for-now' {
  if (id % 20 === 1) return 'refused'
  if (id % 20 === 2) return 'unknown'
  return id % 20 === 3 && attempt < 2 ? 'refused-for-now' : 'accepted'
}

/** Handles one batch as a dispatcher does. Returns 'crashed' if it stopped in the middle. */
async function workOff(
  { claimedBatches, deliveryReceipts }: StoredPorts,
  dispatcher: DispatcherId,
  batch: ClaimedBatch,
  handed: Handed,
): Promise<'done' | 'fenced' | 'crashed'> {
  const screened = batch.messages.filter(({ id }) => id % 20 === 4)
  await insist(() =>
    claimedBatches.settle(
      dispatcher,
      batch.id,
      screened.map(({ id }) => ({ id, code: 212 as const })),
    ),
  )
  let { marked } = batch
  let rode = false
  for (let from = 0; from < batch.messages.length; from = marked, marked += 10) {
    if (marked > from && from > 0 && !rode) {
      const upTo = Math.min(marked, batch.messages.length)
      if ((await insist(() => claimedBatches.mark(dispatcher, batch.id, upTo))) === 'fenced') return 'fenced'
    }
    const leaving = batch.messages.slice(from, marked).filter(({ id }) => id % 20 !== 4)
    for (const { id } of leaving) count(handed.submitted, id)
    if (chance.happens(0.05)) return 'crashed'

    const forNow = leaving.filter((message) => answerOf(message) === 'refused-for-now')
    const ids = forNow.map(({ id }) => id)
    const back = await insist(() => claimedBatches.postpone(dispatcher, batch.id, ids, 0))
    if (back === 'postponed') for (const id of ids) count(handed.refusedForNow, id)

    const outcomes = leaving.flatMap((message): Recorded[] => {
      const answer = answerOf(message)
      if (answer === 'refused-for-now') return []
      const reference = `ref-${message.id}`
      const handover = answer === 'accepted' ? { outcome: answer, reference } : { outcome: answer }
      return [{ batch: batch.id, message, handover }]
    })
    const receipts = outcomes.flatMap(({ message, handover }) =>
      handover.outcome === 'accepted'
        ? [{ carrier, reference: handover.reference, code: 0 as const, number: message.to, submitted: undefined }]
        : [],
    )
    const isLast = marked >= batch.messages.length
    rode = !isLast && chance.happens(0.5)
    const marks = rode ? [{ batch: batch.id, upTo: Math.min(marked + 10, batch.messages.length) }] : []
    const steps: (() => Promise<unknown>)[] = [
      () => claimedBatches.record(dispatcher, outcomes, marks),
      () => deliveryReceipts.apply(receipts),
    ]
    for (const step of chance.happens(0.5) ? steps : steps.reverse()) {
      if ((await insist(step)) === 'fenced') return 'fenced'
    }
  }
  return 'done'
}

/** Runs a dispatcher that crashes at times, until `stopped`, then retires it. */
async function dispatch(ports: StoredPorts, handed: Handed, stopped: () => boolean): Promise<void> {
  const { claimedBatches } = ports
  let dispatcher = await insist(() => claimedBatches.register(60))
  for (let round = 0; !stopped(); round++) {
    const lane: Lane = round % 2 === 0 ? 'single' : 'bulk'
    const request = { carrier, lane, messagesMax: 50, markedMax: 10, leaseSeconds: 60 }
    const batch = await insist(() => claimedBatches.claim(dispatcher, request))
    if (batch === 'fenced') dispatcher = await insist(() => claimedBatches.register(60))
    if (typeof batch === 'string') continue
    const ended = await workOff(ports, dispatcher, batch, handed)
    if (ended === 'crashed') {
      await insist(() => claimedBatches.extend(dispatcher, -60))
      dispatcher = await insist(() => claimedBatches.register(60))
    } else if (chance.happens(0.05)) await insist(() => claimedBatches.extend(dispatcher, -60))
  }
  await insist(() => claimedBatches.retire(dispatcher))
}

/**
 * Query for ids that are not in exactly one place. An id in a batch that also has a message row counts as one place.
 */
const misplaced = `
with waiting as (
  select generate_series(lo, hi - 1) id from due union all select generate_series(lo, hi - 1) from later
), claimed as (
  select i id from claimed_batch, unnest(ids) i where i is not null and not exists (select from message m where m.id = i)
), places as (
  select id from waiting union all select id from claimed union all select id from message
), wanted as (
  select generate_series(first_id, first_id + n - 1) id from send
)
select w.id, count(p.id)::int as places from wanted w left join places p on p.id = w.id group by 1 having count(p.id) <> 1`

test('when connections break at random, each message is in one place and submitted once, and every credit is accounted for', async () => {
  const database = await freshDatabase()
  const { connectionString } = database
  const processes = [
    postgresPorts({ connectionString, settings: patientSettings }),
    postgresPorts({ connectionString, settings: patientSettings }),
  ]
  const [ports] = processes.map((process) => process.ports)
  if (ports === undefined) throw new Error('no ports')
  const accounts = [await anAccount(ports, { credits: 100_000 }), await anAccount(ports, { credits: 100_000 })]
  const orders = accounts.flatMap(({ id }) => [
    ...Array.from({ length: 500 }, () => anOrder(id, { to: numbers(1), costs: [7] })),
    ...Array.from({ length: 80 }, () => anOrder(id, { to: numbers(10) })),
    ...Array.from({ length: 10 }, () => anOrder(id, { to: numbers(250) })),
  ])
  await Promise.all(orders.map((order) => ports.messages.accept(order)))

  const handed: Handed = { submitted: new Map(), refusedForNow: new Map() }
  const admin = new Client({ connectionString })
  await admin.connect()
  const placesWrong = async () => (await admin.query<object>(misplaced)).rows
  const cutting = await cutConnections(connectionString)
  const work = { isOver: false }
  const all = processes.map((process) => process.ports)
  const workers = [...all, ...all].map((each) => dispatch(each, handed, () => work.isOver))
  const rescue = (async () => {
    while (!work.isOver) {
      await insist(() => ports.claimedBatches.recover())
      await insist(() => ports.claimedBatches.promote(100))
      await insist(() => ports.deliveryReceipts.match(100))
      expect(await placesWrong()).toEqual([])
    }
  })()
  const isWorkedOff = async () => {
    const { rows } = await admin.query<{ left: boolean }>(
      `select exists (select from due) or exists (select from later) or exists (select from claimed_batch where cardinality(ids) > 0) as left`,
    )
    return rows[0]?.left === false
  }
  const finished = until(isWorkedOff, 60_000).finally(() => (work.isOver = true))
  await Promise.all([finished, rescue, ...workers])
  const cuts = await cutting.stop()
  await until(async () => {
    await ports.deliveryReceipts.match(1000)
    return (await admin.query('select from message where code = 100')).rowCount === 0
  }, 30_000)

  // On a busy machine fewer connections are cut in the time.
  expect(cuts).toBeGreaterThan(3)
  expect(await placesWrong()).toEqual([])
  const twice = [...handed.submitted].filter(([id, times]) => times > 1 + (handed.refusedForNow.get(id) ?? 0))
  expect(twice).toEqual([])
  const { differences, balances } = await ports.ledger.check()
  expect(differences).toEqual([])
  const { rows } = await admin.query<{ spent: number; messages: number }>(
    `select sum(price)::float8 spent, count(*)::int messages from message m join send s on s.first_id = m.send_first_id where m.code in (0, 100, 106)`,
  )
  expect(balances + (rows[0]?.spent ?? 0)).toBe(200_000)
  const codes = await admin.query<{ code: number }>('select distinct code from message order by 1')
  expect(codes.rows.map(({ code }) => code)).toEqual(expect.arrayContaining([0, 106, 111, 212]))

  await admin.end()
  await Promise.all(processes.map(({ close }) => close()))
  await database.drop()
}, 120_000)
