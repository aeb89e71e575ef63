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

/** Milliseconds to wait for an answer that must not come yet. */
const heldMilliseconds = 300

/** Call to a port, and a check that must succeed as soon as the call is answered. */
interface Asked {
  readonly ask: () => Promise<unknown>
  readonly seen: (answer: unknown) => Promise<void>
}

async function answersOnceCommitted({ holdCommits }: HeldPorts, { ask, seen }: Asked): Promise<void> {
  const release = await holdCommits()
  const answer = ask()
  answer.catch(() => undefined)
  try {
    const isAnswered = await Promise.race([answer.then(() => true), setTimeout(heldMilliseconds, false)])
    if (isAnswered) await seen(await answer)
    assert.ok(!isAnswered, 'it was answered before it was committed')
  } finally {
    await release()
  }
  await seen(await answer)
}

/**
 * Contract of `Messages` and `Ledger`: a call is answered only once its work is committed and visible to everybody
 * (P-1).
 */
export const commitsContract: Contract<HeldPorts> = {
  'an order is answered only after it is committed': async (delayed) => {
    const { ports } = delayed
    const { id } = await anAccount(ports)
    await accepted(ports, anOrder(id, { to: numbers(1) }))
    await answersOnceCommitted(delayed, {
      ask: () => accepted(ports, anOrder(id, { to: numbers(3) })),
      seen: async (answer) => {
        const { ids } = answer as Awaited<ReturnType<typeof accepted>>
        assert.deepEqual(await codesOf(ports, id, ids), ['waiting', 'waiting', 'waiting'])
      },
    })
  },

  'an order with a key is answered only after it is committed': async (delayed) => {
    const { ports } = delayed
    const { id } = await anAccount(ports)
    await accepted(ports, anOrder(id, { to: numbers(1) }))
    const request = { account: id, key: 'held' as IdempotencyKey, canonical: 'a send' }
    await answersOnceCommitted(delayed, {
      ask: () => {
        const order = anOrder(id, { to: numbers(1) })
        return ports.messages.acceptOnce(order, request, anAnswerDraft(order))
      },
      seen: async () => assert.equal(typeof (await ports.clientRequests.find(request)), 'object'),
    })
  },

  'a deletion is answered only after it is committed': async (delayed) => {
    const { ports } = delayed
    const { id } = await anAccount(ports)
    const { ids } = await accepted(ports, anOrder(id, { to: numbers(2), due: farAhead }))
    await answersOnceCommitted(delayed, {
      ask: () => ports.messages.deleteScheduled(id, ids, longAgo),
      seen: async () => assert.deepEqual(await codesOf(ports, id, ids), [102, 102]),
    })
  },

  'a transfer is answered only after it is committed': async (delayed) => {
    const { ports } = delayed
    const [from, to] = [await anAccount(ports, { credits: 100 }), await anAccount(ports, { credits: 0 })]
    await answersOnceCommitted(delayed, {
      ask: () => ports.ledger.transfer({ from: from.id, to: to.id, amount: credits(40) }, realClock().now()),
      seen: async () => assert.equal(await ports.ledger.balance(to.id), 40),
    })
  },
}
