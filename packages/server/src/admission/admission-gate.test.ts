import { setImmediate as nextTurn } from 'node:timers/promises'
import { hadNoEffect } from '../on-error.ts'
import { admissionGate, type AdmissionGate, afterPlace, runningRequests } from './admission-gate.ts'

describe('admission gate', () => {
  test('the gate admits as many requests as it has places, and one more for each release', () => {
    const gate = admissionGate(2)
    const leave = gate.tryEnter()
    expect(gate.tryEnter()).toBeDefined()
    expect(gate.tryEnter()).toBeUndefined()
    leave?.()
    expect(gate.inFlight).toBe(1)
    expect(gate.tryEnter()).toBeDefined()
    expect(gate.tryEnter()).toBeUndefined()
  })

  test('releasing a place twice releases one place', () => {
    const gate = admissionGate(2)
    const leave = gate.tryEnter()
    gate.tryEnter()
    leave?.()
    leave?.()
    expect(gate.inFlight).toBe(1)
  })

  const settled = () => new Promise(setImmediate)

  /** Asks for places, and notes who got one. */
  function asking(gate: AdmissionGate) {
    const admitted: string[] = []
    const refused: string[] = []
    const leaves = new Map<string, () => void>()
    return {
      admitted,
      refused,
      ask: async (owner: string, name: string, slow = false) => {
        const leave = await (slow ? gate.enterSlow(owner) : gate.enter(owner))
        if (leave === undefined) refused.push(name)
        else {
          admitted.push(name)
          leaves.set(name, leave)
        }
      },
      leave: async (name: string) => {
        leaves.get(name)?.()
        await settled()
      },
    }
  }

  test('of large work so much is done at a time, half of it where it only reads, and what is small passes it', async () => {
    const gate = admissionGate(100, { largeWorkMax: 200 })
    const admitted: string[] = []
    const leaves = new Map<string, () => void>()
    const ask = async (owner: string, name: string, work: number, reads = false) => {
      const leave = await gate.enter(owner, work, reads)
      admitted.push(name)
      leaves.set(name, () => leave?.())
    }
    const left = async (name: string) => {
      leaves.get(name)?.()
      await settled()
      await settled()
    }
    for (const name of ['a1', 'a2', 'a3', 'a4']) void ask('a', name, 100)
    void ask('b', 'b large', 1000)
    void ask('c', 'c 60', 60)
    void ask('b', 'b small', 1)
    await settled()
    expect([admitted, gate.waiting]).toEqual([['a1', 'a2', 'b small'], 4])
    await left('a1')
    expect(admitted.slice(3)).toEqual(['a3'])
    // More than all room there is goes alone, and nothing behind it takes the room away.
    await left('a2')
    expect(admitted.slice(4)).toEqual([])
    await left('a3')
    expect(admitted.slice(4)).toEqual(['b large'])
    await left('b large')
    expect(admitted.slice(5)).toEqual(['c 60', 'a4'])
    await left('c 60')
    await left('a4')
    void ask('a', 'reads', 60, true)
    void ask('a', 'writes', 90)
    await settled()
    expect(admitted.slice(7)).toEqual(['reads'])
    await left('reads')
    expect(admitted.slice(8)).toEqual(['writes'])
    for (const leave of leaves.values()) leave()
    expect([gate.waiting, gate.inFlight]).toEqual([0, 0])
  })

  test('one owner gets every place that nobody else wants, and owners take turns as soon as others wait', async () => {
    const gate = admissionGate(100, { placesMax: 2 })
    const { ask, leave, admitted } = asking(gate)
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1']) void ask(name.slice(0, 1), name)
    await settled()
    expect([admitted, gate.waiting, gate.inFlight]).toEqual([['a1', 'a2'], 4, 6])
    for (const name of ['a1', 'a2', 'a3', 'b1', 'a4']) await leave(name)
    expect(admitted).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'a5'])
    await leave('a5')
    expect([gate.waiting, gate.inFlight]).toEqual([0, 0])
  })

  test('slow work waits for its own places and takes none from other work', async () => {
    const gate = admissionGate(100, { placesMax: 1, slowPlacesMax: 1 })
    const { ask, leave, admitted } = asking(gate)
    for (const name of ['slow1', 'slow2', 'slow3']) void ask('a', name, true)
    void ask('a', 'quick')
    await settled()
    expect(admitted).toEqual(['slow1', 'quick'])
    await leave('slow1')
    expect(admitted).toEqual(['slow1', 'quick', 'slow2'])
  })

  test('when the process is full, the newest that waits of the owner with most makes room for another owner only', async () => {
    const gate = admissionGate(4, { placesMax: 1 })
    const { ask, admitted, refused } = asking(gate)
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void ask('a', name)
    await settled()
    expect([admitted, refused]).toEqual([['a1'], ['a5']])
    void ask('b', 'b1')
    await settled()
    expect([refused, gate.inFlight]).toEqual([['a5', 'a4'], 4])
    void ask('c', 'quick', true)
    await settled()
    expect([admitted, refused]).toEqual([
      ['a1', 'quick'],
      ['a5', 'a4', 'a3'],
    ])
  })

  test('what passes the gate works without its place, and only after its turn', async () => {
    const gate = admissionGate(100, { placesMax: 1 })
    const { ask, leave, admitted } = asking(gate)
    void ask('a', 'first')
    await settled()
    let end: (value: string) => void = () => undefined
    let hasBegun = false
    const passed = afterPlace(gate.enter('b'), () => {
      hasBegun = true
      return new Promise<string>((resolve) => (end = resolve))
    })
    await settled()
    expect(hasBegun).toBe(false)
    await leave('first')
    await settled()
    expect([hasBegun, gate.inFlight]).toEqual([true, 0])
    void ask('c', 'last')
    await settled()
    expect(admitted).toEqual(['first', 'last'])
    end('done')
    expect(await passed).toBe('done')
  })

  test('what finds no place does not pass the gate, and what fails behind it has done nothing', async () => {
    const gate = admissionGate(1)
    const leave = gate.tryEnter()
    expect(await afterPlace(gate.enter('a'), () => Promise.resolve('done'))).toBeUndefined()
    leave?.()
    const thrown = new Error('no database')
    await expect(afterPlace(gate.enter('a'), () => Promise.reject(thrown))).rejects.toBe(thrown)
    expect([hadNoEffect(thrown), gate.inFlight]).toEqual([true, 0])
  })

  /** As a handler works: with a place, in one go, for so long. */
  async function workFor(ms: number, gate: AdmissionGate, owner: string, begun: string[]) {
    const leave = await gate.enter(owner)
    begun.push(owner)
    for (const began = performance.now(); performance.now() - began < ms;);
    leave?.()
  }

  test('of much work at once no more begins in a turn of the event loop than fits its time, and owners take turns', async () => {
    const gate = admissionGate(100, { turnMs: 5 })
    const begun: string[] = []
    const turns: number[] = []
    // Immediates of one turn, as connections that are read in one.
    const all = [...Array<string>(12).fill('a'), 'b'].map(
      (owner) => new Promise((resolve) => setImmediate(() => resolve(workFor(3, gate, owner, begun)))),
    )
    while (begun.length < 13) {
      await settled()
      turns.push(begun.length)
    }
    await Promise.all(all)
    expect(begun.indexOf('b')).toBeLessThan(5)
    const each = turns.map((count, i) => count - (turns[i - 1] ?? 0)).filter((count) => count > 0)
    expect(Math.max(...each)).toBeLessThanOrEqual(2)
    expect([gate.inFlight, gate.waiting]).toEqual([0, 0])
  })

  test('whose turn does not come in time is refused, and holds nothing', async () => {
    const gate = admissionGate(10, { placesMax: 1, waitSecondsMax: 0.02 })
    const leave = await gate.enter('a')
    expect(await gate.enter('b')).toBeUndefined()
    expect([gate.waiting, gate.inFlight]).toEqual([0, 1])
    leave?.()
    expect(await gate.enter('b')).toBeDefined()
  })
})

describe('running requests', () => {
  test('the end is that of the last request', async () => {
    const requests = runningRequests()
    await requests.ended(60)
    requests.begin()
    requests.begin()
    let ended = false
    const waiting = requests.ended(60).then(() => (ended = true))
    requests.end()
    await nextTurn()
    expect(ended).toBe(false)
    requests.end()
    await waiting
    expect(ended).toBe(true)
  })

  test('what does not end is not waited for longer than is said', async () => {
    const requests = runningRequests()
    requests.begin()
    await requests.ended(0.01)
  })
})
