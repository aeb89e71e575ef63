import { takeTurns, type TurnSettings } from './take-turns.ts'

const settings = { atOnceMax: 2, waitingMax: 10, waitingPerNetworkMax: 5 }

/** Work that ends when the test says so. */
function held(bounds: TurnSettings) {
  const turns = takeTurns(bounds)
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    run: (network: string, name: string) =>
      turns.run(network, () => {
        started.push(name)
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
      }),
    async end(name: string) {
      ends.get(name)?.()
      await new Promise(setImmediate)
    },
    turns,
  }
}

test('no more than the bound runs at a time, the rest in the order it came', async () => {
  const work = held(settings)
  const all = Promise.all(['a', 'b', 'c', 'd'].map((name) => work.run('n', name)))
  await new Promise(setImmediate)
  expect(work.started).toEqual(['a', 'b'])
  await work.end('b')
  expect(work.started).toEqual(['a', 'b', 'c'])
  await work.end('a')
  await work.end('c')
  await work.end('d')
  expect(await all).toEqual(['a', 'b', 'c', 'd'])
})

test('a flood from one network delays another network by one turn only', async () => {
  const work = held({ ...settings, atOnceMax: 1 })
  const all = ['a', 'b', 'c', 'd', 'e'].map((name) => work.run('flood', name))
  all.push(work.run('quiet', 'q'))
  await new Promise(setImmediate)
  for (const name of ['a', 'b', 'q', 'c', 'd', 'e']) await work.end(name)
  expect(work.started).toEqual(['a', 'b', 'q', 'c', 'd', 'e'])
  await Promise.all(all)
})

test('what exceeds the bounds of a network or of all is refused as overloaded and never run, and others still wait', async () => {
  const work = held({ atOnceMax: 1, waitingMax: 3, waitingPerNetworkMax: 2 })
  const all = ['a', 'b', 'c'].map((name) => work.run('n', name))
  await expect(work.run('n', 'of the network')).rejects.toMatchObject({ code: 'overloaded' })
  all.push(work.run('m', 'd'))
  await expect(work.run('o', 'of all')).rejects.toMatchObject({ code: 'overloaded' })
  for (const name of ['a', 'b', 'd', 'c']) await work.end(name)
  expect(work.started).toEqual(['a', 'b', 'd', 'c'])
  await Promise.all(all)
  const again = work.run('n', 'again')
  await new Promise(setImmediate)
  await work.end('again')
  expect(await again).toBe('again')
})

test('work that fails gives its turn on', async () => {
  const turns = takeTurns({ ...settings, atOnceMax: 1 })
  const failing = turns.run('n', () => Promise.reject(new Error('out of memory')))
  const next = turns.run('n', () => Promise.resolve('done'))
  await expect(failing).rejects.toThrow('out of memory')
  expect(await next).toBe('done')
})
