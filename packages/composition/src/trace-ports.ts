import type { Ports } from '@gateway/core'
import type { MessageId, Messages } from '@gateway/core/messages'
import type { PushAnswer } from '@gateway/core/webhooks'
import type { Ended, Tracing } from '@gateway/server'

type Traced = Pick<Ports, 'messages' | 'claimedBatches' | 'deliveryReceipts' | 'webhookClient'>
type Attributes = Ended['attributes']

/** Maximum number of messages that a span names. */
const namedMax = 100

/** Wraps ports so that their calls are recorded as spans, which name messages by id and receipts by reference. */
export function tracePorts<All extends Traced>(ports: All, { ended }: Pick<Tracing, 'ended'>): All {
  /** Records a span of `work`, unless `attributes` returns undefined. */
  async function traced<Result>(
    name: string,
    work: () => Promise<Result>,
    attributes: (result: Result) => Attributes | undefined,
  ): Promise<Result> {
    const begun = performance.now()
    try {
      const result = await work()
      const spanAttributes = attributes(result)
      if (spanAttributes !== undefined) ended({ name, kind: 'inside', begun, attributes: spanAttributes })
      return result
    } catch (error) {
      ended({ name, kind: 'inside', begun, attributes: {}, hasFailed: true })
      throw error
    }
  }
  const { messages, claimedBatches, deliveryReceipts, webhookClient } = ports
  return {
    ...ports,
    messages: {
      ...messages,
      accept: (order) => traced('accept', () => messages.accept(order), acceptedIn),
      acceptOnce: (order, request, draft) =>
        traced('accept', () => messages.acceptOnce(order, request, draft), acceptedIn),
    },
    claimedBatches: {
      ...claimedBatches,
      claim: (dispatcher, request) =>
        traced(
          'claim',
          () => claimedBatches.claim(dispatcher, request),
          (batch) =>
            typeof batch === 'string'
              ? undefined
              : { 'gateway.carrier': request.carrier, ...named(batch.messages.map(({ id }) => id)) },
        ),
    },
    deliveryReceipts: {
      ...deliveryReceipts,
      apply: (receipts) =>
        traced(
          'receipt',
          () => deliveryReceipts.apply(receipts),
          (unknown) => ({
            'gateway.carrier': receipts[0]?.carrier ?? '',
            'gateway.carrier.references': receipts.slice(0, namedMax).map(({ reference }) => reference),
            'gateway.receipts.unknown': unknown.length,
          }),
        ),
    },
    webhookClient: {
      ...webhookClient,
      push: async (request) => {
        const begun = performance.now()
        const answer = await webhookClient.push(request)
        const attributes = { 'gateway.list.id': request.id, ...named(idsIn(request.body)), ...ofAnswer(answer) }
        const hasFailed = answer.outcome === 'failed' || answer.status >= 300
        ended({ name: 'push', kind: 'outgoing', begun, attributes, hasFailed })
        return answer
      },
    },
  }
}

const named = (ids: readonly MessageId[]): Attributes => ({
  'gateway.messages': ids.length,
  'gateway.message.ids': ids.slice(0, namedMax).map(String),
})

const acceptedIn = (accepted: Awaited<ReturnType<Messages['acceptOnce']>>): Attributes =>
  typeof accepted === 'string'
    ? { 'gateway.refusal': accepted }
    : named(accepted.results.flat().filter((result) => typeof result === 'number'))

const ofAnswer = (answer: PushAnswer): Attributes =>
  answer.outcome === 'failed'
    ? { 'gateway.push.failure': answer.failure }
    : { 'http.response.status_code': answer.status }

/** Extracts the message ids from a body of `webhookBody`. */
const idsIn = (body: string): readonly MessageId[] =>
  Array.from(body.matchAll(/"(?:outgoingApi|api)MessageId":(\d+)/g), ([, id]) => Number(id) as MessageId)
