import { setTimeout as delay } from 'node:timers/promises'
import type { CarrierOfRun } from './carrier.ts'
import type { Member } from './processes.ts'
import type { Database } from './database.ts'
import type { Figures } from './figures.ts'

/** P-17: milliseconds within which a due message is submitted if its carrier has room. */
const limitMilliseconds = 5000
const tickMilliseconds = 250

export interface Watching {
  readonly database: Database
  readonly figures: Figures
  readonly members: readonly Member[]
  readonly carrier: CarrierOfRun
}

export interface Liveness {
  /**
   * Resolves when each dispatcher has submitted a message since this call without a disturbance, or had nothing to
   * submit. Resolves to false if P-17 was violated, or after 30 s.
   */
  shown(): Promise<boolean>
  /** Resolves when the last poll has ended. */
  stop(): Promise<void>
}

interface Watched {
  readonly member: Member
  /** Number of submissions in the record of its carrier. */
  submitted: number
  /** Undisturbed milliseconds with work and without a submission. */
  silent: number
  /** Time at which it was last seen to submit, or to have no work, by performance.now(). */
  aliveAt: number
  isBroken: boolean
}

/** Work in the database at one poll. */
interface Work {
  /** True if messages are due and not held for the answer to an SMPP customer. */
  readonly due: boolean
  /** True if there are claimed, unmarked messages. */
  readonly claimed: boolean
  /** True if dispatchers whose lease ended more than 5 s ago still exist. */
  readonly dead: boolean
}

const work = `
select exists (
    select from due where first_id not in (select unnest(first_ids) from smpp_accept where until > now())
  ) due, exists (select from claimed_batch where marked < cardinality(ids)) claimed,
  exists (select from dispatcher where lease_until < now() - interval '5 s') dead`

/**
 * Checks P-17 continuously. Time is measured in polls: each poll counts as 250 ms, however late it is, and only if the
 * database answered.
 */
export function watchLiveness({ database, figures, members, carrier }: Watching): Liveness {
  const watched = members
    .filter(({ app }) => app === 'dispatcher')
    .map((member): Watched => ({ member, submitted: 0, silent: 0, aliveAt: 0, isBroken: false }))
  let idle = 0
  let untaken = 0
  let stopped = false

  /**
   * Asserts that one dispatcher does not go too long without a submission while there is work. Time is measured in its
   * undisturbed polls.
   */
  async function judge(one: Watched, { due }: Work, now: number, submitted: number): Promise<void> {
    const isUndisturbed = one.member.undisturbedSince() < now - tickMilliseconds
    const moved = submitted > one.submitted
    one.submitted = submitted
    if (moved || !due) one.aliveAt = now
    if (moved) one.isBroken = false
    if (due && isUndisturbed) figures.count('looks at one dispatcher, undisturbed, with work due')
    one.silent = moved || !due || !isUndisturbed ? 0 : one.silent + tickMilliseconds
    figures.most('longest ms that one dispatcher submitted nothing though work was due', one.silent)
    if (one.silent <= limitMilliseconds || one.isBroken) return
    one.isBroken = true
    const { name } = one.member
    const claims = await heldBy(one.member)
    figures.broken('P-17', `${name} submitted nothing for ${one.silent} ms though messages were due; it says ${claims}`)
  }

  /**
   * Asserts the same of both dispatchers together, counting claimed messages as work. Also asserts that the work of
   * dead dispatchers is recovered.
   */
  function judgeAll({ due, claimed, dead }: Work, moved: boolean): void {
    const isUndisturbed = watched.every(
      ({ member }) => member.undisturbedSince() < performance.now() - tickMilliseconds,
    )
    if ((due || claimed) && isUndisturbed)
      figures.count('looks at all dispatchers, undisturbed, with work due or claimed')
    idle = moved || !(due || claimed) || !isUndisturbed ? 0 : idle + tickMilliseconds
    untaken = dead && isUndisturbed ? untaken + tickMilliseconds : 0
    figures.most('longest ms that nothing was submitted though work was due or claimed', idle)
    if (idle === limitMilliseconds + tickMilliseconds) {
      figures.broken('P-17', `nothing was submitted for ${idle} ms though messages were due or claimed`)
    }
    if (untaken === limitMilliseconds + tickMilliseconds) {
      figures.broken(
        'P-17',
        `${untaken} ms, and 5 s, after the lease of a dispatcher was over nobody had taken its work`,
      )
    }
  }

  async function look(): Promise<void> {
    const [found] = (await database.probe<Work>(work)) ?? []
    if (found === undefined) {
      figures.count('looks that the database did not answer')
      idle = untaken = 0
      for (const one of watched) one.silent = 0
      return
    }
    const submittedBy = await carrier.read()
    const now = performance.now()
    const before = watched.reduce((sum, { submitted }) => sum + submitted, 0)
    for (const one of watched) {
      const submitted = submittedBy(one.member)
      // A process that was restarted counts from 0.
      if (submitted < one.submitted) one.submitted = 0
      await judge(one, found, now, submitted)
    }
    judgeAll(found, watched.reduce((sum, { submitted }) => sum + submitted, 0) !== before)
    figures.count('looks at liveness')
    if (found.due) figures.count('looks at liveness with work due')
  }

  async function watch(): Promise<void> {
    while (!stopped) {
      await look()
      await delay(tickMilliseconds)
    }
  }
  const over = watch()

  async function shown(): Promise<boolean> {
    const began = performance.now()
    const isShown = ({ member, aliveAt, isBroken }: Watched): boolean =>
      isBroken || aliveAt > Math.max(began, member.undisturbedSince())
    while (!watched.every(isShown)) {
      if (performance.now() - began > 30_000) return false
      await delay(50)
    }
    return true
  }

  return {
    shown,
    stop: () => {
      stopped = true
      return over
    },
  }
}

/** Returns the state that a dispatcher reports about itself, so that the violation shows its cause. */
async function heldBy(member: Member): Promise<string> {
  const url = `${member.url() ?? ''}/metrics`
  const text = await fetch(url, { signal: AbortSignal.timeout(1000) }).then(
    (response) => response.text(),
    () => '',
  )
  const states = text.matchAll(/^gateway_dispatcher_messages\{.*state="(\w+)".*\} (\d+)/gm)
  const ofCarrier = /^gateway_carrier_(binds|circuit_open|requests|throttled|waiting|window)\{.*\} (\d+)/gm
  return (
    Array.from([...states, ...text.matchAll(ofCarrier)], ([, name, n]) => `${name ?? ''} ${n ?? ''}`).join(', ') ||
    'nothing'
  )
}
