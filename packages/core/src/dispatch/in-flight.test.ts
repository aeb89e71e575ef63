import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { aClaimedBatchId, aDispatcherId, testSeed } from '@gateway/core/testing'
import type { MessageId } from '../messages/message-id.ts'
import type { ClaimedBatch, ClaimedMessage, DispatcherId } from './claimed-batches.ts'
import { InFlight, type Claim } from './in-flight.ts'
import { BrokenInvariant, type OpenBatch } from './open-batch.ts'

const seed = testSeed()
const mine = aDispatcherId(1)
const another = aDispatcherId(2)

const aBatch = (id: number, length: number, marked: number): Omit<ClaimedBatch, 'at'> => {
  const messages = Array.from({ length }, (_, i) => ({ id: id * 100 + i }) as unknown as ClaimedMessage)
  return { id: aClaimedBatchId(id), messages, marked }
}
const none: ReadonlySet<MessageId> = new Set()

/** Opens a batch of ten messages, the first `marked` of them marked. */
const opened = (inFlight: InFlight, id: number, marked: number, skipped: ReadonlySet<MessageId> = none): OpenBatch =>
  inFlight.open('bulk', mine, aBatch(id, 10, marked), skipped)

const upTo = (count: number) => (): number => count

test('a batch with more marks than the limit has room for is never opened', () => {
  const inFlight = new InFlight(10)
  opened(inFlight, 1, 4)
  const claim = inFlight.startClaim('bulk', 4)
  expect(() => opened(inFlight, 2, 3)).toThrow(BrokenInvariant)
  inFlight.endClaim(claim)
  opened(inFlight, 3, 6)
  expect([inFlight.batches().map(({ id }) => id), inFlight.inDoubt()]).toEqual([[1, 3], 10])
})

describe('marks that are attached to a record', () => {
  test('are counted once together with the outcomes that they replace', () => {
    const inFlight = new InFlight(100)
    const batch = opened(inFlight, 1, 2)
    inFlight.submit(batch, 2, 0)
    expect(inFlight.attach(mine, 2, upTo(7))).toEqual([{ batch: 1, upTo: 9 }])
    expect([batch.mark, inFlight.inDoubt()]).toEqual(['attached', 2 + 7 - 2])
    inFlight.confirmAttached(mine)
    inFlight.recorded(batch, 2)
    expect([batch.mark, batch.marked, inFlight.inDoubt()]).toEqual(['none', 9, 7])
  })

  test('replace no more outcomes than there are marks', () => {
    const inFlight = new InFlight(100)
    opened(inFlight, 1, 5)
    inFlight.attach(mine, 5, upTo(2))
    expect(inFlight.inDoubt()).toBe(5)
  })

  test('never exceed the limit, however many are requested', () => {
    const inFlight = new InFlight(8)
    opened(inFlight, 1, 5)
    opened(inFlight, 2, 1)
    expect(inFlight.attach(mine, 3, upTo(10))).toEqual([{ batch: 1, upTo: 10 }])
    expect(inFlight.inDoubt()).toBe(8)
  })

  test('are repeated after a failed record, without others, and replace no more outcomes than the first time', () => {
    const inFlight = new InFlight(100)
    const batch = opened(inFlight, 1, 2)
    inFlight.attach(mine, 2, upTo(5))
    opened(inFlight, 2, 0)
    const others = (): number => {
      throw new Error('others were chosen')
    }
    expect(inFlight.attach(mine, 9, others)).toEqual([{ batch: 1, upTo: 7 }])
    expect(inFlight.attach(another, 9, others)).toEqual([])
    expect(inFlight.inDoubt()).toBe(2 + 5 - 2)
    inFlight.confirmAttached(another)
    expect(batch.mark).toBe('attached')
  })

  test('are dropped once the batch is fenced', () => {
    const inFlight = new InFlight(100)
    opened(inFlight, 1, 2)
    inFlight.attach(mine, 2, upTo(5))
    inFlight.fence(mine)
    expect([inFlight.attach(mine, 2, upTo(5)), inFlight.inDoubt()]).toEqual([[], 0])
  })
})

test('a failed mark is committed again up to the same position, and no message is submitted before', () => {
  const inFlight = new InFlight(100)
  const batch = opened(inFlight, 1, 0)
  expect(inFlight.startMark(batch, upTo(4))).toBe(4)
  expect(inFlight.startMark(batch, upTo(4))).toBeUndefined()
  inFlight.failMark(batch)
  expect(inFlight.submit(batch, 10, 0)).toEqual([])
  expect(inFlight.startMark(batch, upTo(9))).toBe(4)
  inFlight.confirmMark(batch)
  expect(inFlight.submit(batch, 10, 0)).toHaveLength(4)
})

test('skipped messages are never submitted, and no message is marked before they are settled', () => {
  const inFlight = new InFlight(100)
  const skipped = new Set([100, 101, 104] as MessageId[])
  const batch = opened(inFlight, 1, 1, skipped)
  expect([inFlight.startMark(batch, upTo(5)), inFlight.attach(mine, 5, upTo(5))]).toEqual([undefined, []])
  inFlight.skippedSettled(batch)
  expect([batch.marked, batch.inDoubt, batch.open]).toEqual([0, 0, 7])
  expect(inFlight.startMark(batch, upTo(2))).toBe(4)
  inFlight.confirmMark(batch)
  expect(inFlight.submit(batch, 10, 0).map(({ id }) => id)).toEqual([102, 103])
  expect([batch.marked, batch.inDoubt]).toEqual([2, 2])
  expect(inFlight.startMark(batch, upTo(1))).toBe(6)
})

test('claims that fail together count once, and the limit holds while they end one by one', () => {
  const inFlight = new InFlight(3)
  const claims = [inFlight.startClaim('single', 1), inFlight.startClaim('bulk', 2)]
  for (const claim of claims) inFlight.loseClaim(claim)
  expect(inFlight.inDoubt() + inFlight.claiming()).toBe(3)
  for (const claim of claims) inFlight.endClaim(claim)
  expect(inFlight.inDoubt() + inFlight.claiming()).toBe(3)
})

test('messages that failed claims may have marked count until they are given back', () => {
  const inFlight = new InFlight(10)
  const claim = inFlight.startClaim('single', 7)
  expect(inFlight.startClaim('bulk', 7).markedMax).toBe(3)
  inFlight.loseClaim(claim)
  inFlight.endClaim(claim)
  expect([inFlight.inDoubt(), inFlight.hasLostClaims()]).toEqual([7, true])
  inFlight.forgetLostClaims()
  expect([inFlight.inDoubt(), inFlight.hasLostClaims()]).toEqual([0, false])
})

test.each<[string, (inFlight: InFlight, batch: OpenBatch) => void]>([
  ['more is recorded than was submitted', (inFlight, batch) => inFlight.recorded(batch, 9)],
  ['more is given back than there was', (inFlight, batch) => inFlight.givenBack(batch, 11)],
  [
    'a claim marked more than it may',
    (inFlight) => {
      const claim = inFlight.startClaim('bulk', 5)
      inFlight.open('bulk', mine, aBatch(2, 10, 9), none)
      inFlight.endClaim(claim)
    },
  ],
])('an impossible number throws at once: %s', (_, doWrong) => {
  const inFlight = new InFlight(10)
  expect(() => {
    doWrong(inFlight, opened(inFlight, 1, 5))
  }).toThrow(BrokenInvariant)
})

test(`any operations in any order keep the positions in order and the limit (seed ${seed})`, () => {
  const operations = fc.array(fc.tuple(fc.nat(12), fc.nat(9), fc.nat(14)), { minLength: 50, maxLength: 200 })
  fc.assert(fc.property(fc.integer({ min: 1, max: 25 }), operations, keepsInvariants), { seed, numRuns: 300 })
})

/** Performs operations of a dispatcher and its store, and checks the invariants after each. */
function keepsInvariants(inDoubtMax: number, operations: readonly (readonly [number, number, number])[]): void {
  const inFlight = new InFlight(inDoubtMax)
  const claims: Claim[] = []
  const unsettled = new Set<OpenBatch>()
  /** Batches of answered messages whose outcome is not committed. */
  const answered: OpenBatch[] = []
  const submitted = new Set<MessageId>()
  let epoch = 1
  let batches = 0
  const dispatcher = (): DispatcherId => aDispatcherId(epoch)

  const claimed = (length: number): void => {
    const claim = claims.shift()
    if (claim === undefined) return
    const batch = aBatch(++batches, length, Math.min(length, claim.markedMax))
    const skipped = new Set(batch.messages.filter((_, i) => (i + length) % 4 === 0).map(({ id }) => id))
    inFlight.endClaim(claim)
    const open = inFlight.open(claim.lane, dispatcher(), batch, skipped)
    if (skipped.size > 0) unsettled.add(open)
  }
  /** Records all waiting outcomes, including those of an earlier failed record. */
  const record = (count: number, isCommitted: boolean): void => {
    const own = answered.filter((batch) => batch.dispatcher === dispatcher())
    inFlight.attach(dispatcher(), own.length, upTo(count))
    if (!isCommitted) return
    inFlight.confirmAttached(dispatcher())
    for (const batch of own) {
      answered.splice(answered.indexOf(batch), 1)
      inFlight.recorded(batch, 1)
    }
  }
  const steps: readonly ((batch: OpenBatch | undefined, count: number) => void)[] = [
    (_, count) => void claims.push(inFlight.startClaim(count % 2 === 0 ? 'single' : 'bulk', count)),
    (_, count) => {
      claimed(count + 1)
    },
    () => {
      const claim = claims.shift()
      if (claim === undefined) return
      inFlight.loseClaim(claim)
      inFlight.endClaim(claim)
    },
    () => {
      inFlight.forgetLostClaims()
    },
    (batch, count) => {
      if (batch) inFlight.startMark(batch, upTo(count))
    },
    (batch) => {
      if (batch?.mark === 'committing') inFlight.confirmMark(batch)
    },
    (batch) => {
      if (batch) inFlight.failMark(batch)
    },
    (batch, count) => {
      for (const { id } of (batch && inFlight.submit(batch, count, 0)) ?? []) {
        if (submitted.has(id)) throw new Error(`${id} submitted twice`)
        submitted.add(id)
      }
    },
    (_, count) => {
      for (const id of [...inFlight.unanswered.keys()].slice(0, count)) {
        const pending = inFlight.answer(id)
        if (pending) answered.push(pending.batch)
      }
    },
    (batch) => {
      if (batch === undefined || !unsettled.delete(batch)) return
      inFlight.skippedSettled(batch)
    },
    (_, count) => {
      record(count, true)
    },
    (_, count) => {
      record(count, false)
    },
    () => {
      inFlight.fence(aDispatcherId(epoch++))
    },
  ]
  for (const [step, which, count] of operations) {
    const all = inFlight.batches()
    steps[step]?.(all[which % Math.max(1, all.length)], count)
    for (const { next, marked, marking, end: length, open, inDoubt, messages, fenced } of inFlight.batches()) {
      assert.ok(0 <= next && next <= marked && marked <= marking && marking <= length && length <= messages.length)
      assert.ok(!fenced || length === next)
      assert.ok(0 <= inDoubt && inDoubt <= open)
    }
    assert.ok(inFlight.inDoubt() + inFlight.claiming() <= inDoubtMax)
    assert.ok(inFlight.unanswered.size + answered.length <= inDoubtMax * epoch)
  }
}
