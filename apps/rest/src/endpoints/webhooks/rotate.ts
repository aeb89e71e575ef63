import { overlapHoursDefault, overlapHoursMax } from '@gateway/core/webhooks'
import { Type } from 'typebox'
import { failure, type Failure, isFailure } from '../../answer.ts'
import { type Operation, post } from '../../operation.ts'
import { optional, reader } from '../../schema.ts'
import { idOf, noSuchWebhook, Secret, WebhookAnswer, webhookExample, webhookJson } from '../../webhook-fields.ts'

const Rotation = Type.Object(
  {
    overlapHours: optional(Type.Integer({ minimum: 0, maximum: overlapHoursMax }), {
      expected: `a whole number from 0 to ${overlapHoursMax}`,
      description: `Hours for which the previous secret still signs alongside the new one. Omitted, null or blank: ${overlapHoursDefault}.`,
    }),
  },
  { title: 'Rotation', expected: 'an object', description: 'Settings of the rotation.' },
)
const readRotation = reader(Rotation)

const operation: Operation = {
  id: 'rotateWebhookSecret',
  tag: 'Webhooks',
  summary: 'Rotate the secret of a webhook',
  description:
    'Makes a new signing secret, which is shown only here. The previous secret still signs alongside it for `overlapHours` (24 by default): ' +
    'during that time each request carries a signature for both, and for earlier secrets that have not expired (of the last 5). With 0 all earlier secrets end at once.',
  body: Rotation,
  answer: { webhook: WebhookAnswer, secret: Secret },
  examples: {
    'in two hours': {
      id: 1,
      body: { overlapHours: 2 },
      answer: {
        webhook: { ...webhookExample, previousSecretUntil: '202610181200' },
        secret: 'whsec_MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDI=',
      },
    },
  },
}

export const rotateSecret = post(
  operation,
  (body): { readonly overlapHours: number } | Failure => {
    const read = readRotation(body)
    if (isFailure(read)) return read
    return { overlapHours: typeof read.overlapHours === 'number' ? read.overlapHours : overlapHoursDefault }
  },
  async ({ gateway, account, parameter, now }, { overlapHours }) => {
    const id = idOf(parameter)
    const done = id === 'no-such-webhook' ? id : await gateway.commands.rotateWebhookSecret(account, id, overlapHours)
    if (done === 'no-such-webhook') return noSuchWebhook
    if (done === 'overlap-out-of-range')
      return failure(
        'field-invalid',
        `overlapHours must be a whole number from 0 to ${overlapHoursMax}; got ${overlapHours}.`,
      )
    return `"webhook":${webhookJson(done.webhook, now)},"secret":"${done.secret}"`
  },
  { slow: true, whenEmpty: '{}' },
)
