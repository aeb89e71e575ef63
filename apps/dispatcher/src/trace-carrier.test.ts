import { aBody, aMessageId, anAddress, aNumber, scriptedCarrier, until } from '@gateway/core/testing'
import type { Ended } from '@gateway/server'
import { traceCarrier } from './trace-carrier.ts'

test('each answer of a carrier becomes a span with the message and its reference; the carrier behaves as before', async () => {
  const carrier = scriptedCarrier({ id: 'a', window: 5, outcomeOf: ({ id }) => (id === 7 ? 'accepted' : 'refused') })
  const spans: Ended[] = []
  const traced = traceCarrier(carrier, { ended: (span) => spans.push(span) })
  let count = 0
  const message = { from: anAddress(), to: aNumber('27825550101'), body: aBody() }
  traced.submit(
    [7, 8].map((id) => ({ id: aMessageId(id), ...message })),
    (answers) => (count += answers.length),
  )
  await until(() => count === 2)
  traced.setMode('paused')
  expect([traced.window, traced.id, carrier.mode()]).toEqual([5, 'a', 'paused'])
  expect(spans.map(({ name, attributes, hasFailed }) => [name, attributes, hasFailed])).toEqual([
    [
      'submit',
      {
        'gateway.carrier': 'a',
        'gateway.message.id': '7',
        'gateway.outcome': 'accepted',
        'gateway.carrier.references': ['a-7-1'],
      },
      false,
    ],
    ['submit', { 'gateway.carrier': 'a', 'gateway.message.id': '8', 'gateway.outcome': 'refused' }, true],
  ])
})
