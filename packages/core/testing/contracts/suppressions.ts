import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { Msisdn } from '@gateway/core/messages'
import type { Suppression, SuppressionEntry, SuppressionScope } from '@gateway/core/suppressions'
import { instant, secondsAfter } from '@gateway/core/time'
import { anAccount, aNumber, numbers } from '../builders.ts'
import { concurrentCallers, collect, type Contract } from './shared.ts'

const now = instant(Date.UTC(2026, 9, 18, 8, 0, 0, 123))
const entry = (scope: SuppressionScope, kind: Suppression, number: Msisdn, since = now): SuppressionEntry => ({
  scope,
  kind,
  number,
  since,
})

export const suppressionsContract: Contract<StoredPorts> = {
  'a number without an entry is not in the result': async (ports) => {
    const { id } = await anAccount(ports)
    const [quiet = assert.fail(), blocked = assert.fail()] = numbers(2)
    await ports.suppressions.add(entry(id, 'opt-out', blocked))
    const found = await ports.suppressions.matching(id, [quiet, blocked])
    assert.deepEqual(found, new Map([[blocked, new Set(['opt-out'])]]))
    assert.deepEqual(await ports.suppressions.matching(id, []), new Map())
  },

  'an opt-out from one account touches neither its sibling nor its parent (ruling 1.21)': async (ports) => {
    const main = await anAccount(ports)
    const [sub, sibling] = [await anAccount(ports, { parent: main.id }), await anAccount(ports, { parent: main.id })]
    await ports.suppressions.add(entry(sub.id, 'opt-out', aNumber()))
    assert.deepEqual(
      await ports.suppressions.matching(sub.id, [aNumber()]),
      new Map([[aNumber(), new Set(['opt-out'])]]),
    )
    assert.equal((await ports.suppressions.matching(sibling.id, [aNumber()])).size, 0)
    assert.equal((await ports.suppressions.matching(main.id, [aNumber()])).size, 0)
  },

  'entries for everybody and for the account are combined, each kind once': async (ports) => {
    const { suppressions } = ports
    const { id } = await anAccount(ports)
    const [a = assert.fail(), b = assert.fail(), c = assert.fail()] = numbers(3)
    await suppressions.add(entry('everybody', 'blacklist', a))
    await suppressions.add(entry('everybody', 'do-not-contact', a))
    await suppressions.add(entry(id, 'opt-out', a))
    await suppressions.add(entry('everybody', 'blacklist', b))
    await suppressions.add(entry(id, 'blacklist', b))
    assert.deepEqual(
      await suppressions.matching(id, [c, b, a, a]),
      new Map([
        [a, new Set(['blacklist', 'do-not-contact', 'opt-out'])],
        [b, new Set(['blacklist'])],
      ]),
    )
  },

  'one call looks up a thousand numbers': async (ports) => {
    const { id } = await anAccount(ports)
    const all = numbers(1000)
    const blocked = all.filter((_, i) => i % 100 === 7)
    for (const number of blocked) await ports.suppressions.add(entry('everybody', 'do-not-contact', number))
    const found = await ports.suppressions.matching(id, all)
    assert.deepEqual([...found.keys()].sort(), blocked)
  },

  'an existing entry keeps its first time': async (ports) => {
    const { suppressions } = ports
    const { id } = await anAccount(ports)
    assert.equal(await suppressions.add(entry(id, 'opt-out', aNumber())), 'added')
    for (const later of [60, 0, -60]) {
      assert.equal(await suppressions.add(entry(id, 'opt-out', aNumber(), secondsAfter(now, later))), 'already')
    }
    assert.deepEqual(await collect(suppressions.list(id, 'opt-out')), [entry(id, 'opt-out', aNumber())])
    assert.equal(await suppressions.add(entry(id, 'do-not-contact', aNumber())), 'added', 'another kind')
    assert.equal(await suppressions.add(entry('everybody', 'opt-out', aNumber())), 'added', 'another scope')
  },

  'an entry is removed alone, once, and can be added again with a new time': async (ports) => {
    const { suppressions } = ports
    const { id } = await anAccount(ports)
    const other = entry('everybody', 'blacklist', aNumber())
    await suppressions.add(other)
    await suppressions.add(entry(id, 'blacklist', aNumber()))
    assert.equal(await suppressions.remove(entry(id, 'opt-out', aNumber())), false, 'another kind')
    await suppressions.add(entry(id, 'opt-out', aNumber()))
    assert.equal(await suppressions.remove(entry(id, 'blacklist', aNumber())), true)
    assert.equal(await suppressions.remove(entry(id, 'blacklist', aNumber())), false)
    assert.deepEqual(await collect(suppressions.list('everybody', 'blacklist')), [other])
    assert.deepEqual(await collect(suppressions.list(id, 'opt-out')), [entry(id, 'opt-out', aNumber())])
    assert.deepEqual(await collect(suppressions.list(id, 'blacklist')), [], 'nothing is left behind')
    const again = entry(id, 'blacklist', aNumber(), secondsAfter(now, 60))
    assert.equal(await suppressions.add(again), 'added')
    assert.deepEqual(await collect(suppressions.list(id, 'blacklist')), [again])
  },

  'a list has the entries of one scope and kind, by number as text, at any length': async (ports) => {
    const { suppressions } = ports
    const { id } = await anAccount(ports)
    const some = ['4915112345678', '27821234567', '447911123456', '27831234567'].map((number) => aNumber(number))
    const all = [...some, ...numbers(1200)]
    for (const number of all) await suppressions.add(entry(id, 'opt-out', number))
    await suppressions.add(entry('everybody', 'opt-out', aNumber('27841234567')))
    await suppressions.add(entry(id, 'blacklist', aNumber('27851234567')))
    const listed = await collect(suppressions.list(id, 'opt-out'))
    assert.deepEqual(
      listed,
      all.toSorted().map((number) => entry(id, 'opt-out', number)),
    )
  },

  'a reader that stops early blocks nothing': async (ports) => {
    const { suppressions } = ports
    for (const number of numbers(20)) await suppressions.add(entry('everybody', 'blacklist', number))
    for (let i = 0; i < 20; i++) {
      for await (const { number } of suppressions.list('everybody', 'blacklist')) {
        assert.equal(number, numbers(1)[0])
        break
      }
    }
    assert.equal((await collect(suppressions.list('everybody', 'blacklist'))).length, 20)
  },

  'of concurrent additions of one entry one succeeds, and the others report that it exists': async (ports) => {
    const { suppressions } = ports
    const results = await Promise.all(
      Array.from({ length: concurrentCallers }, (_, i) =>
        suppressions.add(entry('everybody', 'blacklist', aNumber(), secondsAfter(now, i))),
      ),
    )
    assert.equal(results.filter((result) => result === 'added').length, 1)
    const listed = await collect(suppressions.list('everybody', 'blacklist'))
    assert.deepEqual(
      listed.map(({ since }) => since),
      [secondsAfter(now, results.indexOf('added'))],
    )
  },

  'of concurrent removals of one entry one succeeds': async (ports) => {
    const { suppressions } = ports
    await suppressions.add(entry('everybody', 'blacklist', aNumber()))
    const removed = await Promise.all(
      Array.from({ length: concurrentCallers }, () => suppressions.remove(entry('everybody', 'blacklist', aNumber()))),
    )
    assert.equal(removed.filter(Boolean).length, 1)
    assert.deepEqual(await collect(suppressions.list('everybody', 'blacklist')), [])
  },

  'one call adds many entries: existing ones keep their times, and of a repeated number the first counts': async (
    ports,
  ) => {
    const { suppressions } = ports
    const { id } = await anAccount(ports)
    const all = numbers(2500)
    const [first = assert.fail(), second = assert.fail()] = all
    await suppressions.add(entry(id, 'opt-out', second, secondsAfter(now, -60)))
    const entries = [...all, first].map((number, i) => ({ number, since: secondsAfter(now, i) }))
    assert.equal(await suppressions.addAll(id, 'opt-out', entries), 2499)
    assert.equal(await suppressions.addAll(id, 'opt-out', entries), 0, 'once more')
    assert.equal(await suppressions.addAll(id, 'opt-out', []), 0)
    assert.deepEqual(
      await collect(suppressions.list(id, 'opt-out')),
      all.map((number, i) => entry(id, 'opt-out', number, secondsAfter(now, number === second ? -60 : i))),
    )
    assert.deepEqual(await collect(suppressions.list('everybody', 'opt-out')), [])
  },

  'opt-outs are added with their texts, which are removed with the entries': async (ports) => {
    const { suppressions } = ports
    const { id } = await anAccount(ports)
    const text = ` =STOP "now", {null}\n\\ it's 'over' 👋`
    const [a = assert.fail(), b = assert.fail(), c = assert.fail()] = numbers(3)
    const entries = [
      { number: b, since: now, text },
      { number: a, since: now },
      { number: c, since: now, text: 'NULL' },
    ]
    assert.equal(await suppressions.addAll(id, 'opt-out', entries), 3)
    const reply = (words: string) => ({ id: undefined, text: words, answers: undefined })
    const expected = [
      { number: a, since: now, reply: undefined },
      { number: b, since: now, reply: reply(text) },
      { number: c, since: now, reply: reply('NULL') },
    ]
    assert.deepEqual((await collect(suppressions.optOuts(id))).flat(), expected)
    assert.equal(await suppressions.addAll(id, 'opt-out', [{ number: a, since: now, text: 'too late' }]), 0)
    assert.deepEqual((await collect(suppressions.optOuts(id))).flat(), expected)
    await suppressions.remove(entry(id, 'opt-out', b))
    assert.equal(await suppressions.addAll(id, 'opt-out', [{ number: b, since: now }]), 1)
    assert.equal((await collect(suppressions.optOuts(id))).flat()[1]?.reply, undefined, 'nothing was left behind')
  },

  'if lists with the same numbers are added concurrently in any order, each number is added once': async (ports) => {
    const { suppressions } = ports
    const entries = numbers(400).map((number) => ({ number, since: now }))
    const added = await Promise.all(
      Array.from({ length: 16 }, (_, i) => {
        const part = entries.slice(i * 10, i * 10 + 250)
        return suppressions.addAll('everybody', 'blacklist', i % 2 === 0 ? part : part.toReversed())
      }),
    )
    assert.equal(
      added.reduce((sum, count) => sum + count, 0),
      400,
    )
    assert.equal((await collect(suppressions.list('everybody', 'blacklist'))).length, 400)
  },
}
