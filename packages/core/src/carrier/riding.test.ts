import { aClaimedBatchId, aDispatcherId } from '@gateway/core/testing'
import { takeOff, emptySky, type Aloft } from './aloft.ts'
import type { ClaimedMessage, ClaimedBatch } from './claimed-batches.ts'
import { createRiding } from './riding.ts'

const mine = aDispatcherId(1)
const another = aDispatcherId(2)

/** A claimed batch of ten messages, `marked` of which are marked and all up to `marking` are to be. */
function anAloft(id: number, marked: number, marking: number): Aloft {
  const messages = Array.from({ length: 10 }, (_, i) => ({ id: id * 100 + i }) as unknown as ClaimedMessage)
  const batch: ClaimedBatch = { id: aClaimedBatchId(id), messages, marked }
  return Object.assign(takeOff(emptySky(), 'bulk', mine, batch, new Set()), { marking })
}

test('what rides is counted once, beside the outcomes that it replaces', () => {
  const riding = createRiding()
  const aloft = anAloft(1, 2, 9)
  expect(riding.board(mine, 5, () => [aloft])).toEqual([{ batch: 1, upTo: 9 }])
  expect(riding.has(aloft)).toBe(true)
  expect(riding.covered()).toBe(5)
  expect(riding.alight(mine)).toEqual([aloft])
  expect(riding.has(aloft)).toBe(false)
  expect(riding.covered()).toBe(0)
})

test('fewer marks than outcomes cover only themselves', () => {
  const riding = createRiding()
  riding.board(mine, 5, () => [anAloft(1, 2, 4), anAloft(2, 0, 1)])
  expect(riding.covered()).toBe(3)
})

test('after a record that failed the same marks ride again, and no others', () => {
  const riding = createRiding()
  const aloft = anAloft(1, 2, 4)
  riding.board(mine, 2, () => [aloft])
  const chosen = () => {
    throw new Error('others were chosen')
  }
  expect(riding.board(mine, 6, chosen)).toEqual([{ batch: 1, upTo: 4 }])
  expect(riding.board(another, 6, chosen)).toEqual([])
  expect(riding.alight(another)).toEqual([])
  expect(riding.has(aloft)).toBe(true)
})

test('marks that ride again cover no more than the outcomes that they rode with first, which may be all that was committed', () => {
  const riding = createRiding()
  const aloft = anAloft(1, 0, 10)
  riding.board(mine, 2, () => [aloft])
  riding.board(mine, 9, () => [])
  expect(riding.covered()).toBe(2)
})

test('a claimed batch that was taken away rides no more', () => {
  const riding = createRiding()
  const aloft = anAloft(1, 2, 4)
  riding.board(mine, 2, () => [aloft])
  aloft.fenced = true
  expect(riding.covered()).toBe(0)
  expect(riding.board(mine, 2, () => [])).toEqual([])
})
