import fc from 'fast-check'
import { ByteCollector } from './byte-collector.ts'

test('what was added comes back in its order, and what follows begins anew', () => {
  const lists = fc.array(fc.array(fc.uint8Array({ maxLength: 20 })))
  fc.assert(
    fc.property(lists, (rounds) => {
      const collector = new ByteCollector()
      for (const round of rounds) {
        const pieces = round.map((bytes) => Buffer.from(bytes))
        for (const piece of pieces) collector.add(piece)
        const all = Buffer.concat(pieces)
        expect(collector.length).toBe(all.length)
        expect(collector.take()).toEqual(all)
      }
    }),
  )
})

test('a piece that came alone is not copied and not written behind', () => {
  const collector = new ByteCollector()
  const piece = Buffer.from('abcdef').subarray(0, 3)
  collector.add(piece)
  collector.add(Buffer.from('x'))
  expect(collector.take().toString()).toBe('abcx')
  expect(Buffer.from(piece.buffer, piece.byteOffset, 6).toString()).toBe('abcdef')
  collector.add(piece)
  expect(collector.take().buffer).toBe(piece.buffer)
})

test('100 000 pieces of one byte need one block of twice their bytes', () => {
  const collector = new ByteCollector()
  for (let i = 0; i < 100_000; i++) collector.add(Buffer.from('x'))
  expect(collector.take().buffer.byteLength).toBeLessThanOrEqual(200_000 + 8192)
})
