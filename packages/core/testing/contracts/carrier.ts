import { strict as assert } from 'node:assert'
import {
  carrierId,
  type Carrier,
  type CarrierHandlers,
  type DeliveryReceipt,
  type Submission,
  type SubmissionAnswer,
} from '@gateway/core/dispatch'
import { isFinal } from '@gateway/core/messages'
import { aBody, aMessageId, anAddress, numbers } from '../builders.ts'
import { until } from '../until.ts'
import type { Contract } from './shared.ts'

const submissions = (count: number, from = 1): readonly Submission[] =>
  numbers(count).map((to, i) => ({ id: aMessageId(from + i), from: anAddress(), to, body: aBody(`text ${i}`) }))

/** Submits all messages in one call and collects the answers. */
function submit(carrier: Carrier, messages: readonly Submission[]): readonly SubmissionAnswer[] {
  const answers: SubmissionAnswer[] = []
  carrier.submit(messages, (some) => void answers.push(...some))
  return answers
}

const sorted = (answers: readonly SubmissionAnswer[]) => answers.map(({ id }) => id).toSorted((a, b) => a - b)
const ids = (messages: readonly Submission[]) => messages.map(({ id }) => id)
const references = (answers: readonly SubmissionAnswer[]) =>
  answers.map((answer) => (answer.outcome === 'accepted' ? answer.reference : assert.fail(answer.outcome)))

const deaf: CarrierHandlers = { receipts: () => Promise.resolve([]), inboundMessages: () => Promise.resolve() }
const never = new Promise<never>(() => undefined)

/**
 * Contract of the port `Carrier`. The subject accepts messages to South African numbers that end in 00 and reports
 * their delivery within seconds; its window is at least 20.
 */
export const carrierContract: Contract<Carrier> = {
  'the carrier has a name and room for submissions': async (carrier) => {
    assert.equal(carrierId(carrier.id), carrier.id)
    assert.ok(Number.isInteger(carrier.window) && carrier.window >= 20)
    carrier.listen(deaf)
    await carrier.close(never)
  },

  'every submission is answered exactly once, and accepted messages have unique references': async (carrier) => {
    carrier.listen(deaf)
    const answers = [submit(carrier, submissions(15)), submit(carrier, submissions(5, 16)), submit(carrier, [])]
    await until(() => answers.flat().length >= 20)
    await carrier.close(never)
    assert.deepEqual(sorted(answers.flat()), ids(submissions(20)))
    assert.deepEqual(sorted(answers[0] ?? []), ids(submissions(15)), 'to the caller of its own submission')
    assert.equal(new Set(references(answers.flat())).size, 20)
  },

  'answers never arrive before the submit call has returned': async (carrier) => {
    carrier.listen(deaf)
    let returned = false
    const early: boolean[] = []
    carrier.submit(submissions(5), (answers) => early.push(...answers.map(() => !returned)))
    returned = true
    await until(() => early.length === 5)
    assert.ok(!early.includes(true))
    await carrier.close(never)
  },

  'each accepted message gets a receipt with its reference and a final state': async (carrier) => {
    const received: DeliveryReceipt[] = []
    carrier.listen({ ...deaf, receipts: (some) => (received.push(...some), Promise.resolve([])) })
    const answers = submit(carrier, submissions(20))
    await until(() => answers.length === 20 && new Set(received.map(({ reference }) => reference)).size === 20)
    const known = new Set(references(answers))
    for (const { carrier: name, reference, code } of received) {
      assert.equal(name, carrier.id)
      assert.ok(known.has(reference))
      assert.ok(isFinal(code))
    }
    await carrier.close(never)
  },

  'receipts whose handler fails are offered again until it succeeds (P-7)': async (carrier) => {
    const handled = new Set<string>()
    let calls = 0
    carrier.listen({
      ...deaf,
      receipts: (some) => {
        if (++calls <= 3) return Promise.reject(new Error('the store is away'))
        for (const { reference } of some) handled.add(reference)
        return Promise.resolve([])
      },
    })
    const answers = submit(carrier, submissions(3))
    await until(() => handled.size === 3)
    assert.deepEqual(handled, new Set(references(answers)))
    await carrier.close(never)
  },

  'closing answers every outstanding submission, once': async (carrier) => {
    carrier.listen(deaf)
    const answers = submit(carrier, submissions(20))
    await carrier.close(never)
    await until(() => answers.length >= 20)
    assert.deepEqual(sorted(answers), ids(submissions(20)))
  },

  'closing waits no longer than its deadline': async (carrier) => {
    carrier.listen(deaf)
    const answers = submit(carrier, submissions(20))
    await carrier.close(Promise.resolve())
    await until(() => answers.length >= 20)
    assert.deepEqual(sorted(answers), ids(submissions(20)))
  },

  'concurrent submissions of several callers are answered to each of them': async (carrier) => {
    carrier.listen(deaf)
    const answered = await Promise.all(
      submissions(20).map(async (message) => {
        const answers = submit(carrier, [message])
        await until(() => answers.length > 0)
        return answers.map(({ id }) => id)
      }),
    )
    assert.deepEqual(
      answered,
      submissions(20).map(({ id }) => [id]),
    )
    await carrier.close(never)
  },
}
