import type { Ports } from '@gateway/core'
import type { Ended } from '@gateway/server'
import { tracePorts } from './trace-ports.ts'

/** Wraps ports with scripted answers. */
function traced(answers: Readonly<Record<string, unknown>>) {
  const spans: Ended[] = []
  const answer = (name: string) => () => {
    const result = answers[name]
    return result instanceof Error ? Promise.reject(result) : Promise.resolve(result)
  }
  const ports = {
    messages: { accept: answer('accept'), acceptOnce: answer('acceptOnce') },
    claimedBatches: { claim: answer('claim') },
    deliveryReceipts: { apply: answer('apply') },
    webhookClient: { push: answer('push') },
  } as unknown as Ports
  const recordedSpans = () => spans.map(({ name, attributes, hasFailed = false }) => [name, attributes, hasFailed])
  return { ports: tracePorts(ports, { ended: (span) => spans.push(span) }), recordedSpans }
}

const any = {} as never

test('accept, claim, receipt and push are spans that name messages by id', async () => {
  const { ports, recordedSpans } = traced({
    accept: { results: [[7, 'insufficient-credits'], [8]], balance: 1 },
    acceptOnce: 'repeated',
    claim: { messages: [{ id: 7 }, { id: 8 }] },
    apply: [],
    push: { outcome: 'answered', status: 204 },
  })
  await ports.messages.accept(any)
  await ports.messages.acceptOnce(any, any, any)
  await ports.claimedBatches.claim(any, { carrier: 'a' } as never)
  await ports.deliveryReceipts.apply([{ carrier: 'a', reference: 'r1' }] as never)
  const body = '{"events":[{"apiMessageId":7},{"outgoingApiMessageId":8}]}'
  await ports.webhookClient.push({ id: 'list', body } as never)
  const both = { 'gateway.messages': 2, 'gateway.message.ids': ['7', '8'] }
  const receipt = { 'gateway.carrier': 'a', 'gateway.carrier.references': ['r1'], 'gateway.receipts.unknown': 0 }
  expect(recordedSpans()).toEqual([
    ['accept', both, false],
    ['accept', { 'gateway.refusal': 'repeated' }, false],
    ['claim', { 'gateway.carrier': 'a', ...both }, false],
    ['receipt', receipt, false],
    ['push', { 'gateway.list.id': 'list', ...both, 'http.response.status_code': 204 }, false],
  ])
})

test('a failure is recorded and rethrown; an empty claim is not recorded', async () => {
  const { ports, recordedSpans } = traced({
    accept: new Error('away'),
    claim: 'nothing',
    push: { outcome: 'failed', failure: 'timeout' },
  })
  await expect(ports.messages.accept(any)).rejects.toThrow('away')
  await ports.claimedBatches.claim(any, any)
  await ports.webhookClient.push({ id: 'list', body: '{}' } as never)
  expect(recordedSpans()).toMatchObject([
    ['accept', {}, true],
    ['push', { 'gateway.push.failure': 'timeout' }, true],
  ])
})
