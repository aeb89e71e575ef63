import { strict as assert } from 'node:assert'
import { setTimeout } from 'node:timers/promises'
import type { StoredPorts } from '@gateway/core'
import type { IdempotencyKey } from '@gateway/core/client-requests'
import { credits } from '@gateway/core/credits'
import { anAccount, anAnswerDraft, anOrder, numbers } from '../builders.ts'
import { realClock } from '../memory/clock.ts'
import { accepted, codesOf, farAhead, longAgo, type Contract } from './shared.ts'

/** Ports on a store whose commits a test can delay at the last moment. */
export interface HeldPorts {
  readonly ports: StoredPorts
  /** Delays every commit that touches an account until the returned function is called. */
  readonly holdCommits: () => Promise<() => Promise<void>>
}

/** Milliseconds within which an answer that comes too early is noticed. */
const heldMilliseconds = 300

/** What is asked, with what everybody must see as soon as it is answered. */
interface Asked {
  readonly ask: () => Promise<unknown>
  readonly seen: (answer: unknown) => Promise<void>
}

async function answersOnceCommitted({ holdCommits }: HeldPorts, { ask, seen }: Asked): Promise<void> {
  const release = await holdCommits()
  const told = ask()
  told.catch(() => undefined)
  try {
    const isAnswered = await Promise.race([told.then(() => true), setTimeout(heldMilliseconds, false)])
    if (isAnswered) await seen(await told)
    assert.ok(!isAnswered, 'it was answered before it was committed')
  } finally {
    await release()
  }
  await seen(await told)
}

/**
 * What `Messages` and `Ledger` promise of the moment of their answers: it comes once the work is committed, and
 * everybody sees it then (P-1).
 */
export const commitsContract: Contract<HeldPorts> = {
  'an order is answered only after it is committed': async (held) => {
    const { ports } = held
    const { id } = await anAccount(ports)
    await accepted(ports, anOrder(id, { to: numbers(1) }))
    await answersOnceCommitted(held, {
      ask: () => accepted(ports, anOrder(id, { to: numbers(3) })),
      seen: async (answer) => {
        const { ids } = answer as Awaited<ReturnType<typeof accepted>>
        assert.deepEqual(await codesOf(ports, id, ids), ['waiting', 'waiting', 'waiting'])
      },
    })
  },

  'an order with a key is answered only after it is committed': async (held) => {
    const { ports } = held
    const { id } = await anAccount(ports)
    await accepted(ports, anOrder(id, { to: numbers(1) }))
    const request = { account: id, key: 'held' as IdempotencyKey, asked: 'a send' }
    await answersOnceCommitted(held, {
      ask: () => {
        const order = anOrder(id, { to: numbers(1) })
        return ports.messages.acceptOnce(order, request, anAnswerDraft(order))
      },
      seen: async () => assert.equal(typeof (await ports.clientRequests.find(request)), 'object'),
    })
  },

  'a deletion is answered only after it is committed': async (held) => {
    const { ports } = held
    const { id } = await anAccount(ports)
    const { ids } = await accepted(ports, anOrder(id, { to: numbers(2), due: farAhead }))
    await answersOnceCommitted(held, {
      ask: () => ports.messages.deleteScheduled(id, ids, longAgo),
      seen: async () => assert.deepEqual(await codesOf(ports, id, ids), [102, 102]),
    })
  },

  'a transfer is answered only after it is committed': async (held) => {
    const { ports } = held
    const [from, to] = [await anAccount(ports, { credits: 100 }), await anAccount(ports, { credits: 0 })]
    await answersOnceCommitted(held, {
      ask: () => ports.ledger.transfer({ from: from.id, to: to.id, amount: credits(40) }, realClock().now()),
      seen: async () => assert.equal(await ports.ledger.balance(to.id), 40),
    })
  },
}
