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

  /** Requests places and records who got one. */
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

  test('large requests run up to their total work, those that only read up to half of it, and small ones pass them', async () => {
    const gate = admissionGate(100, { largeWorkMax: 200 })
    const admitted: string[] = []
    const leaves = new Map<string, () => void>()
    const ask = async (owner: string, name: string, work: number, reads = false) => {
      const leave = await gate.enter(owner, work, reads)
      admitted.push(name)
      leaves.set(name, () => leave?.())
    }
    const leave = async (name: string) => {
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
    await leave('a1')
    expect(admitted.slice(3)).toEqual(['a3'])
    // A request larger than the whole room runs alone. Requests behind it in the queue must not use up the room
    // meanwhile.
    await leave('a2')
    expect(admitted.slice(4)).toEqual([])
    await leave('a3')
    expect(admitted.slice(4)).toEqual(['b large'])
    await leave('b large')
    expect(admitted.slice(5)).toEqual(['c 60', 'a4'])
    await leave('c 60')
    await leave('a4')
    void ask('a', 'reads', 60, true)
    void ask('a', 'writes', 90)
    await settled()
    expect(admitted.slice(7)).toEqual(['reads'])
    await leave('reads')
    expect(admitted.slice(8)).toEqual(['writes'])
    for (const leave of leaves.values()) leave()
    expect([gate.waiting, gate.inFlight]).toEqual([0, 0])
  })

  test('one owner gets all places while no other waits, and owners take turns as soon as others wait', async () => {
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

  test('slow requests wait for their own places and use no others', async () => {
    const gate = admissionGate(100, { placesMax: 1, slowPlacesMax: 1 })
    const { ask, leave, admitted } = asking(gate)
    for (const name of ['slow1', 'slow2', 'slow3']) void ask('a', name, true)
    void ask('a', 'quick')
    await settled()
    expect(admitted).toEqual(['slow1', 'quick'])
    await leave('slow1')
    expect(admitted).toEqual(['slow1', 'quick', 'slow2'])
  })

  test('when the process is full, the newest waiting request of the owner with the most is refused only for another owner', async () => {
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

  test('work behind the gate runs without its place, and only after its turn', async () => {
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

  test('a request without a place does not pass the gate, and errors behind it are marked as without effect', async () => {
    const gate = admissionGate(1)
    const leave = gate.tryEnter()
    expect(await afterPlace(gate.enter('a'), () => Promise.resolve('done'))).toBeUndefined()
    leave?.()
    const thrown = new Error('no database')
    await expect(afterPlace(gate.enter('a'), () => Promise.reject(thrown))).rejects.toBe(thrown)
    expect([hadNoEffect(thrown), gate.inFlight]).toEqual([true, 0])
  })

  /** Enters the gate and blocks the event loop for `ms`, as a handler does. */
  async function workFor(ms: number, gate: AdmissionGate, owner: string, begun: string[]) {
    const leave = await gate.enter(owner)
    begun.push(owner)
    for (const began = performance.now(); performance.now() - began < ms;);
    leave?.()
  }

  test('in one turn of the event loop no more work begins than fits its time, and owners take turns', async () => {
    const gate = admissionGate(100, { turnMs: 5 })
    const begun: string[] = []
    const turns: number[] = []
    // All requests arrive in one turn of the event loop, as if their connections were read in one turn.
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

  test('a request whose turn does not come in time is refused and holds nothing', async () => {
    const gate = admissionGate(10, { placesMax: 1, waitSecondsMax: 0.02 })
    const leave = await gate.enter('a')
    expect(await gate.enter('b')).toBeUndefined()
    expect([gate.waiting, gate.inFlight]).toEqual([0, 1])
    leave?.()
    expect(await gate.enter('b')).toBeDefined()
  })
})

describe('running requests', () => {
  test('ended resolves with the last request', async () => {
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

  test('ended resolves after its maximum time even if a request is still running', async () => {
    const requests = runningRequests()
    requests.begin()
    await requests.ended(0.01)
  })
})
