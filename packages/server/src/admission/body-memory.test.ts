import { bodyMemory, type BodyMemory, type BodyPlace } from './body-memory.ts'

/** Returns a body of `bytes` that is still being read, and whether it was evicted. */
function reading(memory: BodyMemory, owner: string, bytes: number) {
  const place = memory.open(owner)
  const body = { place, evicted: false, fits: false }
  place.onEvicted = () => (body.evicted = true)
  body.fits = place.grow(bytes)
  return body
}

test('bytes are counted once, and only while they are held', () => {
  const memory = bodyMemory(100)
  const place = memory.open('a')
  expect([place.grow(20), place.grow(30), memory.bytes]).toEqual([true, true, 50])
  place.release()
  place.release()
  expect(memory.bytes).toBe(0)
})

test('no owner has more than half: its requesting body is evicted, or a larger one of the same owner', () => {
  const memory = bodyMemory(100)
  const large = reading(memory, 'a', 40)
  const small = reading(memory, 'a', 15)
  expect([large.evicted, small.fits, memory.bytes]).toEqual([true, true, 15])
  expect([reading(memory, 'a', 51).fits, memory.bytes]).toEqual([false, 15])
})

test('if there is no room, the largest body of the owner with the most bytes is evicted for another owner', () => {
  const memory = bodyMemory(100)
  const [first, second] = [reading(memory, 'a', 20), reading(memory, 'a', 25)]
  const other = reading(memory, 'b', 45)
  const newcomer = reading(memory, 'c', 30)
  expect([first.evicted, second.evicted, other.evicted, newcomer.fits]).toEqual([false, true, false, true])
  expect(memory.bytes).toBe(95)
})

test('a completely read body cannot be evicted', () => {
  const memory = bodyMemory(100)
  const places: BodyPlace[] = ['a', 'b'].map((owner) => memory.open(owner))
  expect(places.map((place) => place.grow(50))).toEqual([true, true])
  expect([reading(memory, 'c', 1).fits, memory.bytes]).toEqual([false, 100])
})

test('a body that stays for its owner can be evicted only for others', () => {
  const memory = bodyMemory(100)
  const unread = reading(memory, 'a', 40)
  unread.place.staysForOwner = true
  expect([reading(memory, 'a', 20).fits, unread.evicted, memory.bytes]).toEqual([false, false, 40])
  const other = reading(memory, 'b', 35)
  const third = reading(memory, 'c', 30)
  expect([other.evicted, unread.evicted, third.fits, memory.bytes]).toEqual([false, true, true, 65])
})

test('places are added and removed in any order, and the largest remaining one is evicted', () => {
  const memory = bodyMemory(100)
  const bodies = [3, 4, 5, 6, 7, 8].map((bytes) => reading(memory, 'a', bytes))
  for (const i of [0, 4]) bodies[i]?.place.release()
  expect([memory.bytes, memory.open('a').grow(27)]).toEqual([4 + 5 + 6 + 8, true])
  expect([reading(memory, 'a', 2).fits, memory.bytes]).toEqual([true, 4 + 5 + 6 + 27 + 2])
  expect(bodies.map(({ evicted }) => evicted)).toEqual([false, false, false, false, false, true])
})
