import { setTimeout as delay } from 'node:timers/promises'
import type { Chance } from '@gateway/core/testing'
import type { Injecting } from '../faults/faults.ts'
import type { Figures } from '../faults/figures.ts'
import type { Scene } from '../faults/run.ts'
import { submittedAgain } from '../faults/checks.ts'
import { missingIds } from '../faults/state.ts'
import { operateJson } from '../support/operate.ts'
import { openPair, type Pair } from './two-primaries.ts'

/** Ways in which the primary database server is lost. */
export const forms = ['kill', 'cut', 'standby first', 'freeze', 'bulk', 'asynchronous'] as const
export type Form = (typeof forms)[number]

/** Durations of the phases of a round, in milliseconds. A duration is undefined if its phase did not happen. */
export interface Gap {
  /**
   * From the first loss of a server until all servers were not ready. The first loss is that of the standby in the form
   * `standby first`, and otherwise that of the primary.
   */
  unready?: number | undefined
  /** From the loss of the primary until the drill starts to promote the standby. The drill chooses this duration. */
  decision?: number
  promotion?: number
  /** From the promotion until a client received the next id. */
  resumption?: number
  /** Without a synchronous standby: accepted messages that are missing on the promoted server. */
  lost?: { readonly messages: readonly number[]; readonly of: number }
  /**
   * Numbers of messages without a synchronous standby: `held` counts the messages held in doubt, and `ended` the
   * messages that `failover resume --end` ended.
   */
  inDoubt?: { readonly held: number; readonly ended: number }
}

const listOfLost = 'the list of what was lost'

/**
 * Returns true if a violation counts in a round of this form. Without a synchronous standby, losses are not violations.
 */
export const isJudged = (form: Form, violation: string): boolean =>
  form !== 'asynchronous' || violation.startsWith(listOfLost) || / submitted again | held /.test(violation)

const lookMilliseconds = 100
/** Number of sends that the drill makes while the standby is away. */
const sendsWithoutStandby = 10
const [unreadyMost, resumptionMost] = [2000, 5000]
/** Milliseconds after the promotion during which a process may still use a connection to the old primary. */
const oldPrimaryMost = 3000

/** Loses the primary under load and promotes its standby. */
export function failover(form: Form, gap: Gap): Scene {
  let pair: Pair | undefined
  const isSynchronous = form !== 'asynchronous'
  return {
    open: async (folder, chance) => {
      pair = await openPair(folder, chance)
      if (isSynchronous) await pair.servers.synchronous()
      return pair
    },
    network: () => (pair as Pair).network(),
    inject: (injecting) => inject(form, pair as Pair, injecting, gap),
    // Each dispatcher loses its knowledge when commits stop and again when the primary is lost. There are two
    // dispatchers.
    losses: form === 'standby first' ? 4 : 2,
    isLossy: !isSynchronous,
  }
}

async function inject(form: Form, pair: Pair, injecting: Injecting, gap: Gap): Promise<void> {
  const { chance, figures, observations, log, load } = injecting
  const { servers, ways } = pair
  figures.count(`fault: ${form}`)
  await delay(chance.between(3000, 6000))
  await standbyIsUnused(pair, injecting)
  if (form === 'bulk') await bulkIsClaimed(pair)
  if (form === 'asynchronous') await messagesWait(pair, injecting)
  pair.disturb(600_000)
  let unready: Promise<number | undefined> | undefined
  if (form === 'standby first') {
    ways.replication.stall(120_000)
    unready = untilUnready(injecting)
    // The standby is away for longer than a statement may take. Commits therefore time out, and the processes look up
    // their results.
    const before = observations.messages.size
    for (let n = 0; n < sendsWithoutStandby; n++) void load.sendOne(20_000)
    await delay(chance.between(8000, 10_000))
    log(`${form}: ${String(observations.messages.size - before)} ids were told while the standby was away`)
  }
  const unreplicated = form === 'asynchronous' ? await acceptWithoutStandby(pair, injecting) : undefined
  const lost = performance.now()
  log(`${form}: the primary is lost`)
  if (form === 'cut') for (const way of [ways.replication, ways.primary]) way.stall(20_000)
  else if (form === 'freeze') servers.primary.freeze()
  else servers.primary.kill()
  const reportedIds = [...observations.messages.keys()]
  unready ??= untilUnready(injecting)
  await delay(chance.between(300, 1500))
  gap.decision = performance.now() - lost
  await standbyIsUnused(pair, injecting)
  await pair.promote()
  const promoted = performance.now()
  gap.promotion = promoted - lost - gap.decision
  gap.resumption = await untilAccepted(injecting)
  log(`${form}: an id was told ${String(Math.round(gap.resumption))} ms after the promotion`)
  pair.disturb(5000)
  gap.unready = await unready
  if (form === 'freeze') servers.primary.thaw()
  if (form === 'freeze' || form === 'cut') await oldPrimaryGetsNothing(form, pair, injecting, promoted)
  if (unreplicated !== undefined) {
    gap.lost = { messages: await missingIds(pair, reportedIds), of: reportedIds.length }
    judgeLost(gap.lost.messages, unreplicated, figures)
    gap.inDoubt = await endDoubt(pair, injecting)
  }
}

/** Milliseconds within which dispatchers would submit the waiting messages if these were not held. */
const holdMilliseconds = 3000

/**
 * Asserts P-5: messages that may have been submitted before the primary was lost are held. After the operator's
 * decision each of them is submitted to the carrier once.
 */
async function endDoubt(pair: Pair, { carrier, database, figures }: Injecting): Promise<NonNullable<Gap['inDoubt']>> {
  const judge = async (): Promise<void> => {
    await delay(holdMilliseconds)
    for (const how of submittedAgain(await carrier.record(database))) figures.broken('P-5', how)
  }
  await judge()
  const [row] = await pair.ask<{ held: string }>('select coalesce(sum(messages), 0) held from promotion')
  const heldMessages = Number(row?.held ?? 0)
  if (heldMessages === 0) figures.broken('P-5', 'no message was held after the promotion')
  const environment = { DATABASE_URL: pair.connectionString }
  const { messages } = await operateJson<{ messages: number }>(['failover', 'resume', '--end', '--yes'], environment)
  await judge()
  return { held: heldMessages, ended: messages }
}

/**
 * Ids of messages that were accepted while the standby replicated, and of those accepted after the replication had
 * stopped.
 */
interface Unreplicated {
  readonly before: readonly number[]
  readonly after: readonly number[]
}

async function acceptWithoutStandby({ ways }: Pair, { chance, observations, load }: Injecting): Promise<Unreplicated> {
  const before = [...observations.messages.keys()]
  await delay(chance.between(1000, 1500))
  ways.replication.stall(120_000)
  // By the end of this delay, the sends that were committed before the stall have been answered.
  await delay(chance.between(1000, 1500))
  const known = new Set(observations.messages.keys())
  for (let n = 0; n < sendsWithoutStandby; n++) await load.sendOne(20_000)
  return { before, after: [...observations.messages.keys()].filter((id) => !known.has(id)) }
}

/**
 * Asserts that the list of lost messages is exact: it contains every message accepted after the replication had
 * stopped, and no message accepted well before.
 */
function judgeLost(lost: readonly number[], { before, after }: Unreplicated, figures: Figures): void {
  const isLost = new Set(lost)
  const wrong = [...before.filter((id) => isLost.has(id)), ...after.filter((id) => !isLost.has(id))]
  if (after.length === 0) figures.broken(listOfLost, 'nothing was accepted while the standby was away')
  if (wrong.length > 0) figures.broken(listOfLost, `${wrong.join(' ')} should be in it and are not, or the other way`)
}

const ofGateway = `application_name like 'gateway%' and application_name not like '%looks%'`

/** Asserts that a standby that is not promoted is never used. */
async function standbyIsUnused({ servers }: Pair, { figures }: Injecting): Promise<void> {
  const used = await servers.standby.query<{ application_name: string }>(
    `select application_name from pg_stat_activity where ${ofGateway}`,
  )
  if (used.length > 0) figures.broken('P-1', `${used.length} connections of the gateway are open to a standby`)
}

async function bulkIsClaimed(pair: Pair): Promise<void> {
  const end = performance.now() + 5000
  while (performance.now() < end) {
    const rows = await pair.ask(`select from claimed_batch where lane = 1 and cardinality(ids) > marked limit 1`)
    if (rows.length > 0) return
    await delay(20)
  }
}

/**
 * Waits until ids were reported and messages wait for dispatch, because the drill judges messages that the standby has
 * and holds. On a busy machine the load begins late.
 */
async function messagesWait(pair: Pair, { observations }: Injecting): Promise<void> {
  const end = performance.now() + 60_000
  while (performance.now() < end) {
    const rows = await pair.ask('select from due where due_at <= now() limit 1')
    if (rows.length > 0 && observations.messages.size > 0) return
    await delay(lookMilliseconds)
  }
}

/**
 * Measures the delay by the number of polls instead of the time, because a busy machine delays the product as much as
 * the polls.
 */
async function untilUnready({ members, figures }: Injecting): Promise<number | undefined> {
  const servers = members.filter(({ app }) => app !== 'dispatcher').flatMap((member) => member.url() ?? [])
  const waiting = new Set(servers)
  const began = performance.now()
  for (let looks = 0; looks * lookMilliseconds <= unreadyMost; looks++) {
    await Promise.all(
      [...waiting].map(async (url) => {
        const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
        if (answer?.status === 503) waiting.delete(url)
        await answer?.body?.cancel()
      }),
    )
    if (waiting.size === 0) return performance.now() - began
    await delay(lookMilliseconds)
  }
  figures.broken('P-19', `${waiting.size} of ${servers.length} servers were ready ${unreadyMost} ms after the loss`)
  return undefined
}

async function untilAccepted({ load, figures }: Injecting): Promise<number> {
  const began = performance.now()
  let accepted: number | undefined
  for (let looks = 0; accepted === undefined; looks++) {
    void load.sendOne().then((isAccepted) => (isAccepted ? (accepted ??= performance.now()) : undefined))
    if (looks === resumptionMost / lookMilliseconds)
      figures.broken('P-17', `nothing was accepted ${resumptionMost} ms after the promotion`)
    if (looks > 600) throw new Error('nothing is accepted any more')
    await delay(lookMilliseconds)
  }
  return accepted - began
}

/** Asserts that no process writes to the old primary when it is reachable again. */
async function oldPrimaryGetsNothing(form: Form, pair: Pair, injecting: Injecting, promoted: number): Promise<void> {
  const { figures } = injecting
  await delay(Math.max(0, promoted + oldPrimaryMost - performance.now()))
  // This query uses the server's own socket, because the relay to the server is cut.
  const [row] = await pair.servers.primary.query<{ n: string; open: string }>(
    `select (select count(*) from send) n, (select count(*) from pg_stat_activity where ${ofGateway} and state <> 'active') open`,
  )
  if (form === 'freeze' && Number(row?.open) > 0)
    figures.broken('P-1', `${row?.open ?? ''} connections are open to a primary that was replaced`)
  await delay(2000)
  const [later] = await pair.servers.primary.query<{ n: string }>('select count(*) n from send')
  if (later?.n !== row?.n) figures.broken('P-1', 'a primary that was replaced was written to')
}

export const chanceOfForm = (chance: Chance): Form => chance.one(forms)
