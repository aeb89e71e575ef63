import type { DispatcherId, ClaimedBatchId, ClaimedBatches, Mark, Recorded, SenderAddress } from '@gateway/core'
import { retryOnConnectionLoss, retryWorkOnConnectionLoss } from '../retry-on-connection-loss.ts'
import type { Context } from '../context.ts'
import { sqlState } from '../errors.ts'
import { storedReference } from '../delivery-receipts/stored-reference.ts'
import { numberOf, type NumbersOfSenders } from '../senders/sender-numbers.ts'
import { arrayOf } from '../sql/arrays.ts'
import { release } from '../sql/end-claimed-batches.ts'
import { arrayOfNullable, arrayOfTexts } from '../sql/null-arrays.ts'
import { mark } from '../sql/mark.ts'
import { recordLate } from '../sql/record-late.ts'
import { record as recordAccepted } from '../sql/record.ts'
import type { KnownBatches } from './known-batches.ts'

/** A recovery wrote some of the rows, or this did when it ran before. */
const rowThere = '23505'

const codes = { accepted: 100, unknown: 106, refused: 111 } as const

export function createRecord({ pools: { hot }, senders }: Context, batches: KnownBatches): ClaimedBatches['record'] {
  async function record(
    dispatcher: DispatcherId,
    finished: readonly ClaimedBatchId[],
    outcomes: readonly Recorded[],
    marks: readonly Mark[] = [],
  ): Promise<'recorded' | 'fenced'> {
    const recorded = ascending(outcomes)
    let left = marks
    const carriers = recorded.map((outcome) => carrierOf(dispatcher, outcome))
    const known = await senders.numbersOf(sendersOf(recorded))
    const late = (ended: readonly ClaimedBatchId[]) => [dispatcher, arrayOf(ended), ...valuesOfEach(recorded, known)]
    if (leavesSome(dispatcher, finished, recorded, carriers)) await endCarefully(dispatcher, finished, late([]))
    else {
      const isPlain = !carriers.includes(undefined) && recorded.every(({ handover }) => handover.outcome === 'accepted')
      const values = () => [
        dispatcher,
        arrayOf(finished),
        ...valuesInCommon(recorded, carriers, known),
        ...marked(marks),
      ]
      const answer = isPlain ? await recordsAll(values(), recorded.length) : 'not all'
      if (answer === 'not all') await retryOnConnectionLoss(hot, recordLate, late(finished))
      else if (answer.marked === marks.length) left = []
    }
    for (const { batch, message } of recorded) batches.get(dispatcher, batch)?.ids.delete(message.id)
    for (const batch of finished) batches.drop(dispatcher, batch)
    return (await markAll(dispatcher, left)) ? 'recorded' : 'fenced'
  }

  /** Marks that could not go with the record, or were told to be of claimed batches that are not there. False: one of them is not. */
  async function markAll(dispatcher: DispatcherId, marks: readonly Mark[]): Promise<boolean> {
    let areThere = true
    for (const { batch, upTo } of marks) {
      const rows = await retryOnConnectionLoss(hot, mark, [dispatcher, batch, upTo])
      areThere &&= rows.length > 0
    }
    return areThere
  }

  /** The number of the carrier whose batch still holds this message, as far as this process knows. */
  function carrierOf(dispatcher: DispatcherId, { batch, message }: Recorded): number | undefined {
    const of = batches.get(dispatcher, batch)
    return of?.ids.has(message.id) === true ? of.carrier : undefined
  }

  /** The plain statement. Not all: some of it is there already, or its batch is gone; nothing is wrong with running the late one. */
  async function recordsAll(
    values: readonly unknown[],
    count: number,
  ): Promise<{ readonly marked: number } | 'not all'> {
    try {
      const [row] = await retryOnConnectionLoss(hot, recordAccepted, values)
      return row?.recorded === count ? row : 'not all'
    } catch (error) {
      if (sqlState(error) === rowThere) return 'not all'
      throw error
    }
  }

  /** Whether a finished batch holds, or may hold, messages that nothing is said of. */
  function leavesSome(
    dispatcher: DispatcherId,
    finished: readonly ClaimedBatchId[],
    recorded: readonly Recorded[],
    carriers: readonly (number | undefined)[],
  ): boolean {
    const told = new Map<ClaimedBatchId, number>()
    for (const [i, { batch }] of recorded.entries()) {
      if (carriers[i] !== undefined) told.set(batch, (told.get(batch) ?? 0) + 1)
    }
    return finished.some((batch) => batches.get(dispatcher, batch)?.ids.size !== (told.get(batch) ?? 0))
  }

  /** Such a claimed batch is not just deleted: what is left in it goes where it belongs. */
  async function endCarefully(dispatcher: DispatcherId, finished: readonly ClaimedBatchId[], late: readonly unknown[]) {
    const work = () =>
      hot.transaction(async (connection) => {
        await connection.run(recordLate, late)
        for (const batch of finished) await connection.run(release, [dispatcher, batch])
      })
    await retryWorkOnConnectionLoss(work)
  }

  return record
}

/** By id, each id once: one statement must not meet a row twice, and locks are taken in one order. */
function ascending(outcomes: readonly Recorded[]): readonly Recorded[] {
  const isAscending = outcomes.every(({ message }, i) => i === 0 || (outcomes[i - 1]?.message.id ?? 0) < message.id)
  if (isAscending) return outcomes
  const sorted = [...outcomes].sort((a, b) => a.message.id - b.message.id)
  return sorted.filter(({ message }, i) => message.id !== sorted[i - 1]?.message.id)
}

const sendersOf = (recorded: readonly Recorded[]): ReadonlySet<SenderAddress> =>
  new Set(recorded.flatMap(({ message: { from } }) => from ?? []))

/** Of each message: number of its address, 0: none; whether it confirms an opt-out. */
const sendersAndPurposes = (recorded: readonly Recorded[], known: NumbersOfSenders): readonly string[] => [
  arrayOf(recorded.map(({ message: { from } }) => (from === undefined ? 0 : numberOf(known, from)))),
  arrayOf(recorded.map(({ message }) => (message.confirmation ? 't' : 'f'))),
]

const references = (recorded: readonly Recorded[]): string =>
  arrayOfTexts(
    recorded.map(({ handover }) => (handover.outcome === 'accepted' ? storedReference(handover.reference) : undefined)),
  )

/** Of each message: batch, id, number, reference, account, send, code, sender, whether it confirms an opt-out. */
const valuesOfEach = (recorded: readonly Recorded[], known: NumbersOfSenders): readonly string[] => [
  arrayOf(recorded.map(({ batch }) => batch)),
  arrayOf(recorded.map(({ message }) => message.id)),
  arrayOf(recorded.map(({ message }) => message.to)),
  references(recorded),
  arrayOf(recorded.map(({ message }) => message.account)),
  arrayOf(recorded.map(({ message }) => message.send)),
  arrayOf(recorded.map(({ handover }) => codes[handover.outcome])),
  ...sendersAndPurposes(recorded, known),
]

/** Of each message: place in what follows, id, number, reference. Then batch, account, send, carrier, sender and purpose, once for neighbours of one send. */
function valuesInCommon(
  recorded: readonly Recorded[],
  carriers: readonly (number | undefined)[],
  known: NumbersOfSenders,
): readonly string[] {
  const firsts: { readonly recorded: Recorded; readonly carrier: number | undefined }[] = []
  const places = recorded.map((one, i) => {
    const last = firsts.at(-1)?.recorded
    const isAlike = last !== undefined && one.batch === last.batch && one.message.send === last.message.send
    return isAlike ? firsts.length : firsts.push({ recorded: one, carrier: carriers[i] })
  })
  return [
    arrayOf(places),
    arrayOf(recorded.map(({ message }) => message.id)),
    arrayOf(recorded.map(({ message }) => message.to)),
    references(recorded),
    arrayOf(firsts.map(({ recorded: { batch } }) => batch)),
    arrayOf(firsts.map(({ recorded: { message } }) => message.account)),
    arrayOf(firsts.map(({ recorded: { message } }) => message.send)),
    arrayOfNullable(firsts.map(({ carrier }) => carrier)),
    ...sendersAndPurposes(
      firsts.map((first) => first.recorded),
      known,
    ),
  ]
}

const marked = (marks: readonly Mark[]): readonly [batches: string, upTo: string] => [
  arrayOf(marks.map(({ batch }) => batch)),
  arrayOf(marks.map(({ upTo }) => upTo)),
]
