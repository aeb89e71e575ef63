import { until } from '../../testing/until.ts'
import { fairQueue, refusalPace, timeSlices } from './turns.ts'

describe('fair queue', () => {
  const queueOf = (...items: readonly string[]) => {
    const queue = fairQueue<string>()
    for (const item of items) queue.push(item.slice(0, 1), item)
    return queue
  }
  const drained = (queue: ReturnType<typeof queueOf>) => Array.from({ length: queue.length }, () => queue.shift())

  test('owners take turns, and items of one owner keep their order', () => {
    const queue = queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2')
    expect(drained(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
    expect([queue.length, queue.shift()]).toEqual([0, undefined])
  })

  test('a new owner waits for at most one item of each other owner', () => {
    const queue = queueOf('a1', 'a2', 'a3')
    expect(queue.shift()).toBe('a1')
    queue.push('b', 'b1')
    expect(drained(queue)).toEqual(['a2', 'b1', 'a3'])
  })

  test('a removed item is not returned, and can be removed once', () => {
    const queue = queueOf('a1', 'a2', 'b1')
    expect([queue.remove('a', 'a1'), queue.remove('a', 'a1'), queue.remove('b', 'b1')]).toEqual([true, false, true])
    expect(drained(queue)).toEqual(['a2'])
  })

  test('the newest item of the owner with the most is displaced; of several owners, that of the last in turn', () => {
    const queue = queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2', 'c3')
    expect([queue.displace('d'), queue.displace('d'), queue.displace('d')]).toEqual(['c3', 'a3', 'c2'])
    expect(drained(queue)).toEqual(['a1', 'b1', 'c1', 'a2'])
  })

  test('nothing is displaced for an owner that would have as many items as any', () => {
    const queue = queueOf('a1', 'a2', 'b1')
    expect([queue.displace('a'), queue.displace('b')]).toEqual([undefined, undefined])
    expect(queue.displace('c')).toBe('a2')
  })

  test('owners take turns by work: the owner that has had the least is next', () => {
    const queue = fairQueue<string>()
    for (const item of ['a1', 'a2', 'a3']) queue.push('a', item, 100)
    for (const item of ['b1', 'b2', 'b3', 'b4', 'b5']) queue.push('b', item, 50)
    expect(drained(queue)).toEqual(['a1', 'b1', 'b2', 'a2', 'b3', 'b4', 'a3', 'b5'])
  })

  test('an owner that arrives after much work of another waits for at most one of its items', () => {
    const queue = fairQueue<string>()
    for (const item of ['a1', 'a2', 'a3']) queue.push('a', item, 1000)
    expect([queue.shift(), queue.peek()]).toEqual(['a1', 'a2'])
    for (const item of ['b1', 'b2']) queue.push('b', item)
    queue.push('c', 'c1')
    expect(drained(queue)).toEqual(['a2', 'b1', 'c1', 'b2', 'a3'])
  })
})

describe('time slices', () => {
  const occupy = (milliseconds: number) => {
    const end = performance.now() + milliseconds
    while (performance.now() < end);
  }

  test('the first piece runs at once, and pieces without time in this turn run in turn of their owners', async () => {
    const slices = timeSlices({ turnMs: 1 })
    const done: string[] = []
    const piece = async (name: string) => slices.run(name.slice(0, 1), () => (occupy(1.1), done.push(name)))
    const all = ['a1', 'a2', 'a3', 'b1'].map(piece)
    expect(done).toEqual(['a1'])
    await Promise.all(all)
    expect(done).toEqual(['a1', 'a2', 'b1', 'a3'])
  })

  test('other work runs between two pieces', async () => {
    const slices = timeSlices({ turnMs: 1 })
    let [pieces, turns] = [0, 0]
    const count = () => {
      turns++
      if (pieces < 20) setImmediate(count)
    }
    setImmediate(count)
    const run = async () => slices.run('a', () => (occupy(1.1), pieces++))
    await Promise.all(Array.from({ length: 20 }, run))
    expect(turns).toBeGreaterThanOrEqual(18)
  })

  test('a piece that throws rejects only its own call', async () => {
    const slices = timeSlices({ turnMs: 0 })
    const failing = slices.run('a', () => {
      throw new Error('not valid')
    })
    const next = slices.run('a', () => 'done')
    await expect(failing).rejects.toThrow('not valid')
    expect(await next).toBe('done')
  })

  test('unauthenticated callers get a part of the time and wait for all authenticated ones', async () => {
    const slices = timeSlices({ turnMs: 1, unknownShare: 0.1 })
    let unknownMs = 0
    let stopped = false
    const unknown = async (owner: string) => {
      while (!stopped)
        await slices.runUnknown(owner, () => {
          occupy(1)
          unknownMs++
        })
    }
    const started = performance.now()
    const running = ['a', 'b', 'c'].map(unknown)
    await until(() => unknownMs >= 20)
    const share = unknownMs / (performance.now() - started)
    stopped = true
    await Promise.all(running)
    expect(share).toBeLessThan(0.15)
  })
})

describe('refusal pace', () => {
  test('faster refusals are delayed to the rate, and networks take turns', async () => {
    const pace = refusalPace({ perSecond: 100 })
    const begun = performance.now()
    expect(pace.turn('a')).toBeUndefined()
    const answered: string[] = []
    const waiting = ['a1', 'a2', 'a3', 'b1'].map(async (name) => {
      await pace.turn(name.slice(0, 1))
      answered.push(name)
    })
    expect(pace.waiting).toBe(4)
    await Promise.all(waiting)
    expect(answered).toEqual(['a1', 'b1', 'a2', 'a3'])
    // The total of four pauses of 10 ms; each timer of Node may fire 1 ms early.
    expect(performance.now() - begun).toBeGreaterThanOrEqual(36)
    expect(pace.waiting).toBe(0)
  })

  test('when too many refusals wait, the newest of the network with the most is answered', async () => {
    const pace = refusalPace({ perSecond: 100, waitingMax: 2 })
    void pace.turn('a')
    const answered: string[] = []
    const wait = async (name: string) => {
      await pace.turn(name.slice(0, 1))
      answered.push(name)
    }
    const waiting = [wait('a1'), wait('a2')]
    expect(pace.turn('a')).toBeUndefined()
    waiting.push(wait('b1'))
    expect(pace.waiting).toBe(2)
    await Promise.all(waiting)
    expect(answered).toEqual(['a2', 'a1', 'b1'])
  })

  test('at the end all waiting refusals are answered, and later ones do not wait', async () => {
    const pace = refusalPace({ perSecond: 0.001 })
    void pace.turn('a')
    const wait = async (network: string) => pace.turn(network)
    const waiting = [wait('a'), wait('b')]
    pace.end()
    await Promise.all(waiting)
    expect([pace.waiting, pace.turn('a')]).toEqual([0, undefined])
  })

  test('refusals that come no faster than the rate are answered at once, also after a flood', async () => {
    const pace = refusalPace({ perSecond: 100 })
    void pace.turn('a')
    await Promise.all([pace.turn('a'), pace.turn('b')])
    await new Promise((resolve) => setTimeout(resolve, 25))
    expect(pace.turn('a')).toBeUndefined()
  })
})
