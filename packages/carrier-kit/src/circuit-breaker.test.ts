import fc from 'fast-check'
import type { CircuitState } from '@gateway/core/dispatch'
import { CircuitBreaker, circuitDefaults, type CircuitOutcome, type Departure } from './circuit-breaker.ts'

const words: Readonly<Record<string, CircuitOutcome>> = {
  taken: 'taken',
  throttled: 'throttled',
  busy: 'refused-for-now',
  again: 'refused-again',
  broke: 'account-broken',
  lost: 'unanswered',
  unsent: 'unsent',
}

/** Creates a circuit breaker with its own clock. */
function aCircuit(bounds = circuitDefaults) {
  const log: string[] = []
  let now = 0
  let state: CircuitState = 'closed'
  const noteState = (): void => {
    if (breaker.state !== state) log.push((state = breaker.state))
  }
  const note = (text: string): void => {
    noteState()
    log.push(text)
  }
  const breaker: CircuitBreaker = new CircuitBreaker(
    bounds,
    {
      changed: () => undefined,
      opened: (reason, detail) => note(`opened: ${reason}${detail === undefined ? '' : `, ${detail}`}`),
      closed: (after, by) => note(`closed after ${after}: ${by}`),
    },
    // Time passes only in `pass`, which calls `look` often enough, so the circuit needs no timer.
    { now: () => now, clock: { now: () => now }, after: () => () => undefined },
  )
  return {
    breaker,
    log,
    now: () => now,
    submit: (): Departure => breaker.submitted(now),
    settle: (departure: Departure, outcome: CircuitOutcome, detail?: string) => {
      breaker.settled(departure, outcome, now, detail)
      noteState()
    },
    pass: (milliseconds: number): void => {
      for (const end = now + milliseconds; now < end;) {
        now += Math.min(100, end - now)
        breaker.look(now)
        noteState()
      }
    },
  }
}

/**
 * Runs a script of words: `send` submits; `taken`, `throttled`, `busy`, `again`, `broke`, `lost` and `unsent` settle
 * the oldest submission without an outcome; `answered` settles the latest as taken; `late` settles the oldest as taken
 * after the circuit opened; `5s` passes; `3xword` repeats a word.
 */
function run(script: string) {
  const circuit = aCircuit()
  const open: Departure[] = []
  const step = (word: string): void => {
    const seconds = /^([\d.]+)s$/.exec(word)?.[1]
    if (seconds !== undefined) circuit.pass(Number(seconds) * 1000)
    else if (word === 'send') open.push(circuit.submit())
    else {
      const oldest = word === 'answered' ? open.pop() : open.shift()
      const outcome = words[word === 'late' || word === 'answered' ? 'taken' : word]
      if (oldest === undefined || outcome === undefined) throw new Error(`there is no ${word} here`)
      circuit.settle(oldest, outcome)
    }
  }
  for (const word of script.split(' ')) {
    const [, times = '1', steps = ''] = /^(?:(\d+)x)?(.+)$/.exec(word) ?? []
    for (let time = 0; time < Number(times); time++) for (const one of steps.split('+')) step(one)
  }
  return circuit
}

test.each<[string, string, CircuitState, number]>([
  // Each case has a title, a script, and the state and the room at the end of the script.
  ['a new carrier gets one message', '0s', 'closed', 1],
  ['and no second one before its answer', 'send', 'closed', 0],
  ['each accepted message makes room for one more at a time', 'send+taken send+taken', 'closed', 3],
  ['after ten accepted messages the window is the only limit', '10xsend+taken', 'closed', Infinity],

  ['no answer for 4.9 s', '10xsend+taken send 4.9s', 'closed', Infinity],
  ['no answer for 5 s', '10xsend+taken send 5s', 'open', 0],
  ['no answer for 5 s from a carrier that never answered', 'send 5s', 'open', 0],
  ['one of several messages is answered in that time', '10xsend+taken 2xsend 3s taken send 4s', 'closed', Infinity],
  ['one answer is lost and others arrive', '10xsend+taken send 2xsend 1s send 1s taken 60s', 'closed', Infinity],
  ['no message was sent for ten minutes', '10xsend+taken 600s', 'closed', Infinity],
  ['answers that always take 3 s may take 12 s', 'send 3s taken send 11.9s', 'closed', 1],
  ['but not longer', 'send 3s taken send 12s', 'open', 0],

  ['two without an answer', '10xsend+taken 2xsend+lost', 'closed', Infinity],
  ['three of thirteen', '10xsend+taken 3xsend+lost', 'closed', Infinity],
  ['ten of twenty', '10xsend+taken 10xsend+lost', 'open', 0],
  ['three of the first three', '3xsend+lost', 'open', 0],
  ['thirty unanswered messages among sixty answered ones', '30xsend 60xsend+answered 30xlost', 'closed', Infinity],
  ['thirty unanswered messages among ten answered ones', '30xsend 10xsend+answered 30xlost', 'open', 0],
  ['a hundred are throttled', '10xsend+taken 100xsend+throttled', 'closed', Infinity],
  ['a hundred messages were not sent', '10xsend+taken 100xsend+unsent', 'closed', Infinity],

  ['four numbers are refused for now right after the start', '4xsend+busy', 'closed', 5],
  ['nine numbers are refused for now right after the start', '9xsend+busy', 'closed', 10],
  ['ten distinct messages in a row are refused for now', '10xsend+busy', 'open', 0],
  ['ten in a row are refused after many were accepted', '30xsend+taken 10xsend+busy', 'open', 0],
  ['nine in a row, again and again', '10xsend+taken 9xsend+busy send+taken 9xsend+busy', 'closed', Infinity],
  ['a hundred refusals of messages that were refused before', '10xsend+taken 100xsend+again', 'closed', Infinity],
  ['nine of ten are refused and the tenth is accepted', '10xsend+taken 90xsend+busy+send+taken', 'closed', Infinity],

  ['open for 2.9 s', 'send 5s 2.9s', 'open', 0],
  ['open for 3 s: a probe', 'send 5s 3s', 'half-open', 1],
  ['after refusals a probe in 0.3 s', '10xsend+busy 0.3s', 'half-open', 1],
  ['a probe has no answer yet', 'send 5s 3s send', 'half-open', 0],
  ['the probe was accepted', 'send 8s lost send taken', 'half-open', 2],
  ['the probe was refused for now', 'send 8s lost send busy', 'half-open', 2],
  ['the probe was a message refused before', 'send 8s lost send again', 'half-open', 2],
  ['ten probes were refused for now', 'send 8s lost 10xsend+busy', 'open', 0],
  ['the probe was throttled', 'send 8s lost send throttled', 'half-open', 1],
  ['the probe was not sent', 'send 8s lost send unsent', 'half-open', 1],
  ['the probe has no answer for 5 s', 'send 8s send 5s', 'open', 0],
  ['ten messages were accepted', 'send 8s lost 10xsend+taken', 'closed', Infinity],
  ['ten messages were accepted and nine refused', 'send 8s lost 9xsend+busy 10xsend+taken', 'closed', Infinity],
  ['nine messages were accepted and one has no answer', 'send 8s lost 9xsend+taken send+lost', 'open', 0],
  ['one message was accepted in ten seconds', 'send 8s lost send+taken 10s', 'closed', 2],
  ['one message was accepted and one refused in ten seconds', 'send 8s lost send+taken send+busy 10s', 'half-open', 3],
  ['no message was sent for 59 s', 'send 8s lost 59s', 'half-open', 1],
  ['no message was sent for a minute', 'send 8s lost 60s', 'closed', 1],
  ['refusals of messages that were refused before close nothing', 'send 8s lost 30s send+again 59s', 'half-open', 2],
  ['messages sent before the opening take up no room', '10xsend+taken 30xsend 8s', 'half-open', 1],
  ['messages sent before the opening fail no probe', '10xsend+taken 30xsend 8s 30xlost', 'half-open', 1],
  ['after a late answer the carrier is tried at once', '10xsend+taken 30xsend 5s late', 'half-open', 1],
  ['further late answers prove nothing more', '10xsend+taken 30xsend 5s 20xlate', 'half-open', 1],
  ['a late refusal does not end a pause after refusals', '10xsend+taken 30xsend 20xbusy', 'open', 0],
  [
    'a late acceptance ends a pause after refusals and restores the room',
    '10xsend+taken 30xsend 20xbusy late',
    'half-open',
    Infinity,
  ],
  ['a late acceptance after ten refusals in a row does so too', '11xsend 10xbusy taken', 'half-open', Infinity],
  ['a probe is accepted after refusals', '10xsend+busy 0.3s send+taken', 'half-open', Infinity],
  ['a probe is refused after refusals', '10xsend+busy 0.3s send+busy', 'half-open', 2],
  ['a probe is accepted after silence', '10xsend+taken send 8s send+answered', 'half-open', 2],

  ['one message is refused because of our account', '10xsend+taken send+broke', 'open', 0],
  ['a probe after a refusal because of our account', 'send+broke 3s', 'half-open', 1],
  ['a probe is refused because of our account', 'send+broke 3s send+broke 5.9s', 'open', 0],
  ['ten messages are accepted after our account was repaired', 'send+broke 3s 10xsend+taken', 'closed', Infinity],
  ['late refusals because of our account end no pause', '10xsend+taken 5xsend 5xbroke', 'open', 0],
  ['a late acceptance ends a pause because of our account', '10xsend+taken 2xsend broke late', 'half-open', 1],
])('%s', (_, script, state, room) => {
  const { breaker } = run(script)
  expect([breaker.state, breaker.room()]).toEqual([state, room])
})

test('pauses double with each failed probe, up to the maximum, and start again after a minute of answers', () => {
  const failed = 'send 5s'
  const pauseAfter = (script: string): number => {
    const { breaker, now } = run(script)
    return breaker.pauseLeft(now()) / 1000
  }
  expect(pauseAfter(failed)).toBe(3)
  expect(pauseAfter(`${failed} 3s ${failed}`)).toBe(6)
  expect(pauseAfter(`${failed} 3s ${failed} 6s ${failed}`)).toBe(12)
  expect(pauseAfter(`${failed} 3s ${failed} 6s ${failed} 12s ${failed} 24s ${failed}`)).toBe(48)
  expect(pauseAfter(`${failed} 3s ${failed} 6s ${failed} 12s ${failed} 24s ${failed} 48s ${failed}`)).toBe(50)
  const again = `${failed} 3s lost 10xsend+taken`
  expect(pauseAfter(`${again} 54s ${failed}`)).toBe(6)
  expect(pauseAfter(`${again} 55s ${failed}`)).toBe(3)
  expect(pauseAfter('10xsend+busy')).toBe(0.3)
  expect(pauseAfter('10xsend+busy 0.3s 10xsend+busy 0.6s 10xsend+busy')).toBe(1)
  expect(pauseAfter('10xsend+busy 0.3s 10xsend+busy 0.6s send+taken 10xsend+busy')).toBe(0.3)
})

test('one opening and one closing are reported, however many probes fail in between', () => {
  const { log } = run('send 5s 3s lost send 5s 6s lost 10xsend+taken')
  expect(log).toEqual([
    'open',
    'opened: silent',
    'half-open',
    'open',
    'half-open',
    'closed',
    'closed after 14000: answers',
  ])
  expect(run('send 5s 3s lost 60s').log.at(-1)).toBe('closed after 63000: idle')
})

test('an account that the carrier refuses opens the circuit with its explanation', () => {
  const { breaker, log, submit, settle } = aCircuit()
  settle(submit(), 'account-broken', 'status 402: no credit')
  expect(log).toEqual(['open', 'opened: account-broken, status 402: no credit'])
  expect(breaker.status(7.5)).toMatchObject({
    reason: 'account-broken',
    detail: 'status 402: no credit',
    slowSeconds: 7.5,
  })
})

test('its timer ends the pause and closes the circuit, and changes are reported once the turn is over', async () => {
  let [now, changes] = [0, 0]
  let next: (() => void) | undefined
  const after = (milliseconds: number, call: () => void) => {
    next = () => {
      now += milliseconds
      call()
    }
    return () => (next = undefined)
  }
  const listener = { changed: () => changes++, opened: () => undefined, closed: () => undefined }
  const breaker = new CircuitBreaker(circuitDefaults, listener, { now: () => now, clock: Date, after })
  breaker.settled(breaker.submitted(now), 'account-broken', now)
  expect([breaker.state, changes]).toEqual(['open', 0])
  await Promise.resolve()
  expect(changes).toBe(1)
  next?.()
  expect([breaker.state, now]).toEqual(['half-open', 3001])
  while (next !== undefined) next()
  expect([breaker.state, now]).toEqual(['closed', 63_001])
})

test('a silent carrier gets fewer than twenty probes in ten minutes, and at least one each minute', () => {
  const { breaker, submit, pass, now } = aCircuit()
  let [probes, last, longest] = [0, 0, 0]
  while (now() < 600_000) {
    pass(100)
    if (breaker.room() === 0) continue
    longest = Math.max(longest, now() - last)
    last = now()
    probes++
    submit()
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
])('after %s and %i ms new messages go to other carriers: %p', (script, later, is) => {
  const { breaker, now } = run(script)
  expect(breaker.isDoubtful(now() + later)).toBe(is)
})

describe('any sequence of outcomes', () => {
  const outcomes: readonly CircuitOutcome[] = Object.values(words)
  const anOutcome = fc.constantFrom(...outcomes)
  const aStep = fc.oneof(
    fc.record({ wait: fc.integer({ min: 1, max: 20_000 }) }),
    fc.record({ answerAfter: fc.integer({ min: 0, max: 2000 }), outcome: anOutcome }),
  )

  /** Submits while there is room, and settles each submission after its time. */
  function live(steps: readonly { wait?: number; answerAfter?: number; outcome?: CircuitOutcome }[]) {
    const circuit = aCircuit()
    let under: { readonly departure: Departure; readonly at: number; readonly outcome: CircuitOutcome }[] = []
    const settleDue = (): void => {
      for (const one of under.filter(({ at }) => at <= circuit.now())) circuit.settle(one.departure, one.outcome)
      under = under.filter(({ at }) => at > circuit.now())
    }
    for (const { wait = 10, answerAfter, outcome } of steps) {
      circuit.pass(wait)
      settleDue()
      if (outcome === undefined || answerAfter === undefined || circuit.breaker.room() === 0) continue
      under.push({ departure: circuit.submit(), at: circuit.now() + answerAfter, outcome })
    }
    const settleAll = (): void => {
      for (const one of under) circuit.settle(one.departure, one.outcome)
    }
    return { ...circuit, settleAll }
  }

  test('leaves room unless the circuit is open, and never keeps it open longer than the longest pause', () => {
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 120 }), (steps) => {
        const { breaker, pass, settleAll } = live(steps)
        settleAll()
        expect(breaker.room() > 0).toBe(breaker.state !== 'open')
        pass(50_000)
        expect(breaker.room()).toBeGreaterThan(0)
      }),
    )
  })

  test('with one of ten distinct messages accepted, refusals alone never open the circuit (P-17)', () => {
    const aRefusal = fc.constantFrom<CircuitOutcome>('refused-for-now', 'refused-again')
    const group = fc.array(aRefusal, { maxLength: 9 }).map((refusals): CircuitOutcome[] => [...refusals, 'taken'])
    fc.assert(
      fc.property(fc.array(group, { maxLength: 40 }), fc.integer({ min: 1, max: 100 }), (groups, failuresPercent) => {
        const { breaker, submit, settle, pass } = aCircuit({ ...circuitDefaults, failuresPercent })
        for (const outcome of groups.flat()) {
          const departure = submit()
          pass(30)
          settle(departure, outcome)
          expect(breaker.state).toBe('closed')
        }
      }),
    )
  })

  test('messages refused before never open or close the circuit', () => {
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 60 }), fc.integer({ min: 1, max: 200 }), (steps, times) => {
        const { breaker, submit, settle } = live(steps)
        const { state } = breaker
        for (let time = 0; time < times && breaker.state !== 'open'; time++) settle(submit(), 'refused-again')
        expect(breaker.state).toBe(state)
      }),
    )
  })

  /** The circuit opens for silence, two probes are refused, and a third is accepted. */
  const refusedProbes: ({ wait: number } | { answerAfter: number; outcome: CircuitOutcome })[] = [
    { answerAfter: 0, outcome: 'taken' },
    { wait: 5000 },
    { answerAfter: 0, outcome: 'refused-for-now' },
    { answerAfter: 0, outcome: 'refused-for-now' },
    { answerAfter: 0, outcome: 'taken' },
  ]

  test('closes the circuit of a recovered carrier within three minutes, however few messages it gets', () => {
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 120 }), fc.integer({ min: 1, max: 170 }), (steps, everySeconds) => {
        const { breaker, submit, settle, settleAll, pass, now } = live(steps)
        settleAll()
        const end = now() + 180_000
        while (now() < end && breaker.state !== 'closed') {
          const departure = breaker.room() > 0 ? submit() : undefined
          pass(20)
          if (departure !== undefined) settle(departure, 'taken')
          pass(everySeconds * 1000)
        }
        expect(breaker.state).toBe('closed')
      }),
      { examples: [[refusedProbes, 90]] },
    )
  })
})
