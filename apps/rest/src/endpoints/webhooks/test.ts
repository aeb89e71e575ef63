import { Type } from 'typebox'
import { type Operation, post } from '../../operation.ts'
import { reader } from '../../schema.ts'
import { idOf, noSuchWebhook } from '../../webhook-fields.ts'

const Nothing = Type.Object(
  {},
  { title: 'Nothing', expected: 'an object', description: 'An object whose fields are ignored.' },
)

const operation: Operation = {
  id: 'testWebhook',
  tag: 'Webhooks',
  summary: 'Test a webhook',
  description:
    'Pushes an event of the type `test` to it once, also while it is paused or disabled. What it answers is among its attempts.',
  body: Nothing,
  answer: { eventId: Type.String({ description: 'The id of the event that is pushed.' }) },
  examples: { 'another test': { id: 1, body: {}, answer: { eventId: 'test-2' } } },
}

export const testWebhook = post(
  operation,
  reader(Nothing),
  async ({ gateway, account, parameter }) => {
    const id = idOf(parameter)
    const done = id === 'no-such-webhook' ? id : await gateway.commands.testWebhook(account, id)
    return done === 'no-such-webhook' ? noSuchWebhook : `"eventId":${JSON.stringify(done)}`
  },
  { slow: true, whenEmpty: '{}' },
)
