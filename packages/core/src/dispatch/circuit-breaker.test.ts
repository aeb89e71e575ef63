import {
  circuitAt,
  circuitDefaults,
  circuitRoom,
  isDoubtful,
  newCircuit,
  settledBy,
  submittedTo,
  type Circuit,
  type CircuitBounds,
  type CircuitOutcome,
  type Departure,
} from './circuit-breaker.ts'

const words: Readonly<Record<string, CircuitOutcome>> = {
  taken: 'taken',
  throttled: 'throttled',
  busy: 'refused-for-now',
  lost: 'unanswered',
  unsent: 'unsent',
}

interface Run {
  readonly circuit: Circuit
  readonly now: number
  /** Of those that have no outcome, in their order. */
  readonly open: readonly Departure[]
}

/**
 * What happens, in words: `send` submits; `taken`, `throttled`, `busy`, `lost` and `unsent` are the outcome of the
 * oldest that has none; `answered`: the latest is taken; `late` drops the oldest from the list and settles it as taken
 * though the circuit was opened meanwhile; `5s` passes; `3xword` repeats one.
 */
function run(script: string, bounds: CircuitBounds = circuitDefaults): Run {
  let [circuit, now] = [newCircuit(0), 0]
  const open: Departure[] = []
  const step = (word: string): void => {
    const seconds = /^([\d.]+)s$/.exec(word)?.[1]
    if (seconds !== undefined) {
      for (const end = now + Number(seconds) * 1000; now < end;) {
        now += 100
        circuit = circuitAt(circuit, bounds, now)
      }
    } else if (word === 'send') {
      open.push({ epoch: circuit.epoch, answers: circuit.answers, leftAt: now })
      circuit = submittedTo(circuit, now)
    } else {
      const oldest = word === 'answered' ? open.pop() : open.shift()
      const outcome = words[word === 'late' || word === 'answered' ? 'taken' : word]
      if (oldest === undefined || outcome === undefined) throw new Error(`there is no ${word} here`)
      circuit = settledBy(circuit, oldest, outcome, bounds, now)
    }
  }
  for (const word of script.split(' ')) {
    const [, times = '1', what = ''] = /^(?:(\d+)x)?(.+)$/.exec(word) ?? []
    for (let time = 0; time < Number(times); time++) for (const one of what.split('+')) step(one)
  }
  return { circuit, now, open }
}

test.each<[string, string, Circuit['state'], number]>([
  // What happens, in words; the state; how many may be submitted then.
  ['a carrier that is new gets one', '0s', 'closed', 1],
  ['and no other before it has answered', 'send', 'closed', 0],
  ['each that is taken lets one more leave at a time', 'send+taken send+taken', 'closed', 3],
  ['ten that are taken: as many as the window has room for', '10xsend+taken', 'closed', Infinity],
  ['a refusal for good is an answer like any other', '10xsend+taken send+taken', 'closed', Infinity],

  ['no answer for 4.9 s', '10xsend+taken send 4.9s', 'closed', Infinity],
  ['no answer for 5 s', '10xsend+taken send 5s', 'open', 0],
  ['the same for a carrier that never answered', 'send 5s', 'open', 0],
  ['one answer of many in that time', '10xsend+taken 2xsend 3s taken send 4s', 'closed', Infinity],
  ['one answer is lost and others come', '10xsend+taken send 2xsend 1s send 1s taken 60s', 'closed', Infinity],
  ['nothing was sent for long', '10xsend+taken 600s', 'closed', Infinity],
  ['answers that always take 3 s may take 12 s', 'send 3s taken send 11.9s', 'closed', 1],
  ['and no longer', 'send 3s taken send 12s', 'open', 0],

  ['two without an answer', '10xsend+taken 2xsend+lost', 'closed', Infinity],
  ['three of thirteen', '10xsend+taken 3xsend+lost', 'closed', Infinity],
  ['ten of twenty', '10xsend+taken 10xsend+lost', 'open', 0],
  ['three of the first three', '3xsend+lost', 'open', 0],
  ['ten of twenty were refused for now', '10xsend+taken 10xsend+busy', 'open', 0],
  ['thirty numbers without an answer among sixty with one', '30xsend 60xsend+answered 30xlost', 'closed', Infinity],
  ['thirty among ten with one', '30xsend 10xsend+answered 30xlost', 'open', 0],
  ['a hundred are throttled', '10xsend+taken 100xsend+throttled', 'closed', Infinity],
  ['a hundred did not leave', '10xsend+taken 100xsend+unsent', 'closed', Infinity],

  ['open for 2.9 s', 'send 5s 2.9s', 'open', 0],
  ['open for 3 s: a probe', 'send 5s 3s', 'half-open', 1],
  ['a probe is under way', 'send 5s 3s send', 'half-open', 0],
  ['it was taken', 'send 8s lost send taken', 'half-open', 2],
  ['it was refused for now', 'send 8s lost send busy', 'open', 0],
  ['it was throttled', 'send 8s lost send throttled', 'half-open', 1],
  ['it did not leave', 'send 8s lost send unsent', 'half-open', 1],
  ['it has no answer for 5 s', 'send 8s send 5s', 'open', 0],
  ['ten were taken', 'send 8s lost 10xsend+taken', 'closed', Infinity],
  ['nine were taken and one was not', 'send 8s lost 9xsend+taken send+lost', 'open', 0],
  ['what left before it was opened takes no room', '10xsend+taken 30xsend 8s', 'half-open', 1],
  ['and fails no probe', '10xsend+taken 30xsend 8s 30xlost', 'half-open', 1],
  ['a late answer: it is tried at once', '10xsend+taken 30xsend 5s late', 'half-open', 1],
  ['further late answers prove no more', '10xsend+taken 30xsend 5s 20xlate', 'half-open', 1],
])('%s', (_, script, state, room) => {
  const { circuit } = run(script)
  expect([circuit.state, circuitRoom(circuit)]).toEqual([state, room])
})

test.each(['10xsend+taken', '0s', 'send 8s lost send', '10xsend+taken 30xsend 5s', '8xsend+taken 3xsend+lost'])(
  'after %s several that are counted together are as many one behind the other',
  (script) => {
    const { circuit, now } = run(script)
    const departure = { epoch: circuit.epoch, answers: circuit.answers, leftAt: now }
    for (const outcome of Object.values(words)) {
      let one = circuit
      for (let count = 1; count <= 24; count++) one = submittedTo(one, now)
      expect(submittedTo(circuit, now, 24)).toEqual(one)
      for (let count = 1; count <= 24; count++) one = settledBy(one, departure, outcome, circuitDefaults, now + 40)
      const together = settledBy(submittedTo(circuit, now, 24), departure, outcome, circuitDefaults, now + 40, 24)
      expect(together).toEqual(one)
    }
  },
)

test('pauses double with each probe that fails, up to the longest, and begin anew after a minute of answers', () => {
  const failed = 'send 5s'
  const pausesAfter = (script: string): number => run(script).circuit.pause / 1000
  expect(pausesAfter(failed)).toBe(3)
  expect(pausesAfter(`${failed} 3s ${failed}`)).toBe(6)
  expect(pausesAfter(`${failed} 3s ${failed} 6s ${failed}`)).toBe(12)
  expect(pausesAfter(`${failed} 3s ${failed} 6s ${failed} 12s ${failed} 24s ${failed}`)).toBe(48)
  expect(pausesAfter(`${failed} 3s ${failed} 6s ${failed} 12s ${failed} 24s ${failed} 48s ${failed}`)).toBe(50)
  const again = `${failed} 3s lost 10xsend+taken`
  expect(pausesAfter(`${again} 54s ${failed}`)).toBe(6)
  expect(pausesAfter(`${again} 55s ${failed}`)).toBe(3)
})

test('a silent carrier gets fewer than twenty probes in ten minutes, and never none for a minute', () => {
  let [circuit, probes] = [newCircuit(0), 0]
  let [last, longest] = [0, 0]
  for (let now = 0; now < 600_000; now += 100) {
    circuit = circuitAt(circuit, circuitDefaults, now)
    if (circuitRoom(circuit) === 0) continue
    longest = Math.max(longest, now - last)
    last = now
    probes++
    circuit = submittedTo(circuit, now)
  }
  expect(probes).toBeLessThan(20)
  expect(longest).toBeLessThan(60_000)
})

test.each<[string, number, boolean]>([
  ['10xsend+taken', 0, false],
  ['10xsend+taken send', 900, false],
  ['10xsend+taken send', 1000, true],
  ['send 2s taken send', 7900, false],
  ['send 2s taken send', 8000, true],
  ['send 5s', 1000, false],
])('after %s and %i ms others have what is new: %p', (script, later, is) => {
  const { circuit, now } = run(script)
  expect(isDoubtful(circuit, circuitDefaults, now + later)).toBe(is)
})
