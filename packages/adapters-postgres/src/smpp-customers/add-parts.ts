import { setTimeout as delay } from 'node:timers/promises'
import type { AccountId } from '@gateway/core/accounts'
import type { AnswerDeadline, MessageId } from '@gateway/core/messages'
import type { NewPart, PartAcceptance, SmppParts, StoredPart, WholeText } from '@gateway/core/smpp-customers'
import { Batcher } from '../batcher.ts'
import type { Context } from '../context.ts'
import { isLostAnswer, type LostAnswer } from '../errors.ts'
import { HoldSlots } from '../messages/hold-slots.ts'
import type { Hold } from '../messages/sends.ts'
import { endLostStatement, settleLostStatement } from '../settle-lost-statement.ts'
import { addParts, findParts, revokeParts } from '../sql/smpp-parts.ts'
import { digest } from '../value-types.ts'
import { orNothingDone } from '../write-health.ts'

/** Key of the waiting parts of one text. */
export interface TextKey {
  readonly account: AccountId
  readonly key: string
}

/** Waiting part. `isHeld`: the answer to its submission is not decided yet, so that its text must not be joined. */
export interface WaitingPart {
  readonly part: StoredPart
  readonly isHeld: boolean
}

/** Reads the waiting parts of texts by their keys, in the order of their places. */
export type TextsOf = (keys: readonly TextKey[]) => Promise<ReadonlyMap<string, readonly WaitingPart[]>>

/** Returns the text if all its parts wait and none is held. */
export function wholeText(parts: readonly WaitingPart[]): WholeText | undefined {
  const accepted = parts.filter(({ isHeld }) => !isHeld).map(({ part }) => part)
  return accepted.length > 0 && accepted.length === accepted[0]?.total ? accepted : undefined
}

const noTexts: Awaited<ReturnType<TextsOf>> = new Map()

interface AddedPart extends TextKey {
  readonly part: NewPart
  readonly id: MessageId
  readonly waitingMax: number
  readonly deadline: AnswerDeadline | undefined
}

/**
 * Answer to a part. `absent`: neither the part nor an earlier one in its place waits. `held`: an earlier copy waits
 * whose answer is not decided yet.
 */
type Added = PartAcceptance | 'absent' | 'held'

const together = { inFlightMax: 2, jobsMax: 256, weightMax: 256, gatherMs: 8 }
/** Attempts to store a part that is absent: the earlier one in its place may have been decided a moment ago. */
const absentMax = 2
/** Milliseconds between two attempts while an earlier copy of the part is held, and their maximum number. */
const holding = { pauseMilliseconds: 20, attemptsMax: 50 }

/**
 * Creates a function that stores parts, many in one statement. The statement holds the parts until the deadlines of
 * their answers are decided: the parts in time are released, and the others are deleted before any text is joined with
 * them.
 */
export function partAdder(context: Context, textsOf: TextsOf): SmppParts['add'] {
  const { pools, ids, settings } = context
  const { hot, writes } = pools
  const slots = new HoldSlots(context)
  const line = new Batcher<AddedPart, Added>({ ...together, weight: () => 1, run: addTogether })

  async function addTogether(jobs: readonly AddedPart[]): Promise<readonly Added[]> {
    const inTime = jobs.filter(({ deadline }) => deadline?.isMissed !== true)
    if (inTime.length === 0) return jobs.map(() => 'overloaded')
    const hold = slots.take()
    const stored = await store(hold, inTime)
    const texts = stored.size < inTime.length ? await readOrRevoke(hold, inTime, stored) : noTexts
    const found = jobs.map((job) => (inTime.includes(job) ? findPart(job, stored, texts.get(job.key)) : 'overloaded'))
    return decide(hold, jobs, found, stored)
  }

  /** Stores parts. Returns the ids of the stored ones. */
  async function store(hold: Hold, jobs: readonly AddedPart[]): Promise<ReadonlySet<MessageId>> {
    try {
      const rows = await hot.run(addParts, { ...hold, ...columnsOf(jobs) })
      return new Set(rows.map(({ id }) => id))
    } catch (error) {
      if (isLostAnswer(error)) return settle(hold, error, jobs)
      slots.free(hold)
      throw error
    }
  }

  /** Finds out which parts were stored by a statement without an answer. If that fails, revokes all of them. */
  async function settle(hold: Hold, lost: LostAnswer, jobs: readonly AddedPart[]): Promise<ReadonlySet<MessageId>> {
    const look = () => hot.run(findParts, { account: undefined, ids: jobs.map(({ id }) => id) })
    try {
      const rows = await settleLostStatement(hot, lost, settings.lookUpSeconds, look)
      return new Set(rows.map(({ id }) => id))
    } catch (error) {
      abandon(hold, jobs, lost)
      throw error
    }
  }

  async function readOrRevoke(hold: Hold, jobs: readonly AddedPart[], stored: ReadonlySet<MessageId>) {
    try {
      return await textsOf(jobs.filter(({ id }) => !stored.has(id)))
    } catch (error) {
      abandon(hold, jobs)
      throw error
    }
  }

  /** Marks the deadlines of parts whose callers get an error as missed, and revokes the parts that were stored. */
  function abandon(hold: Hold, jobs: readonly AddedPart[], lost?: LostAnswer): void {
    for (const { deadline } of jobs) deadline?.miss()
    const revoked = jobs.map(({ id }) => id)
    void revoke(hold, revoked, lost)
  }

  /** Decides the deadlines of the answers. A stored part counts if it is in time for at least one of its copies. */
  function decide(
    hold: Hold,
    jobs: readonly AddedPart[],
    found: readonly (MessageId | Exclude<Added, object>)[],
    stored: ReadonlySet<MessageId>,
  ): readonly Added[] {
    const isMet = jobs.map(({ deadline }, at) => typeof found[at] === 'number' && deadline?.meet() !== false)
    const counted = new Set(found.filter((_, at) => isMet[at] === true))
    const late = [...stored].filter((id) => !counted.has(id))
    const released = late.length === 0 ? slots.release(hold) : revoke(hold, late)
    const accepted = jobs.filter((_, at) => isMet[at])
    const texts = released
      .then((isReleased) => (isReleased && accepted.length > 0 ? textsOf(accepted) : noTexts))
      // The parts are stored and answered. The processing joins their texts.
      .catch(() => noTexts)
    return jobs.map((job, at) => {
      const id = found[at]
      if (typeof id !== 'number') return id ?? 'absent'
      if (isMet[at] !== true) return 'overloaded'
      return { id, whole: texts.then((of) => wholeText(of.get(job.key) ?? [])) }
    })
  }

  /** Deletes parts that were answered as not accepted, and releases the slot. Resolves to false if it failed. */
  async function revoke(hold: Hold, revoked: readonly MessageId[], lost?: LostAnswer): Promise<boolean> {
    const isRevoked = await slots.repeat('revoke parts that were answered as not accepted', async () => {
      const run = async () => void (await hot.run(revokeParts, { ...hold, ids: revoked }))
      await (lost === undefined ? run() : endLostStatement(hot, lost, settings.lookUpSeconds, run))
    })
    slots.free(hold)
    return isRevoked
  }

  async function add(part: NewPart, waitingMax: number, deadline?: AnswerDeadline): Promise<PartAcceptance> {
    const job = { part, account: part.account, key: keyOf(part), waitingMax, deadline }
    let absent = 0
    for (let attempt = 0; attempt < holding.attemptsMax && deadline?.isMissed !== true; attempt++) {
      const [range] = await ids.take(1)
      if (range === undefined) throw new Error('no id was leased for a part')
      const added = await line.add({ ...job, id: range.lo as MessageId })
      if (typeof added === 'string' || added.id !== range.lo) ids.giveBack([range])
      if (added === 'held') await delay(holding.pauseMilliseconds)
      else if (added !== 'absent') return added
      else if (++absent === absentMax) return 'too-many-parts'
    }
    return 'overloaded'
  }

  return (...request) => orNothingDone(writes, () => add(...request))
}

const keyOf = ({ account, number, sender, reference, total }: NewPart): string =>
  digest(JSON.stringify([account, number, sender, reference, total]))

const columnsOf = (jobs: readonly AddedPart[]) => ({
  ids: jobs.map(({ id }) => id),
  accounts: jobs.map(({ account }) => account),
  keys: jobs.map(({ key }) => key),
  parts: jobs.map(({ part }) => part.part),
  totals: jobs.map(({ part }) => part.total),
  numbers: jobs.map(({ part }) => part.number),
  contents: jobs.map(({ part }) => JSON.stringify(part)),
  receipts: jobs.map(({ part }) => part.options.smpp.receipts ?? 0),
  credentials: jobs.map(({ part }) => part.options.smpp.credential),
  waitingMax: jobs.map(({ waitingMax }) => waitingMax),
})

/** Returns the id of a part that the statement stored or that waits already, or why there is none. */
function findPart(
  { id, part }: AddedPart,
  stored: ReadonlySet<MessageId>,
  text: readonly WaitingPart[] = [],
): MessageId | 'absent' | 'held' | 'another-part' {
  if (stored.has(id)) return id
  const present = text.find((one) => one.part.part === part.part)
  if (present === undefined) return 'absent'
  if (present.isHeld && !stored.has(present.part.id)) return 'held'
  return JSON.stringify(present.part.coded) === JSON.stringify(part.coded) ? present.part.id : 'another-part'
}
