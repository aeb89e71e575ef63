import { providerNames } from './providers.ts'

type Schema = Readonly<Record<string, unknown>>

const whole = (minimum: number, maximum: number, description: string): Schema => ({
  ...{ type: 'integer', minimum, maximum, description },
})

/** JSON Schemas (draft 7) of the settings of a carrier over HTTP, without its secrets (docs/http-carriers.md). */
export const httpParameters: Readonly<Record<string, Schema>> = {
  provider: {
    type: ['string', 'object'],
    description: `One of ${providerNames.join(', ')}; or a description by http-provider.schema.json`,
  },
  baseUrl: { type: 'string', minLength: 1, description: "Replaces scheme and host of the provider's URL" },
  from: {
    type: 'string',
    pattern: '^(\\+?[0-9]{3,15}|.{1,11})$',
    description: 'The sender of messages that have none',
  },
  currency: { type: 'string', pattern: '^[A-Z]{3}$', description: 'The currency of prices that name none' },
  numbers: { enum: ['digits', 'plus', '00', 'national'] },
  country: { type: 'string', pattern: '^[0-9]{0,4}$' },
  trunkPrefix: { type: 'string', pattern: '^[0-9]{0,4}$' },
  window: whole(1, 1000, 'Unanswered requests of each process'),
  perSecond: whole(1, 100_000, 'Messages a second of all processes'),
  connectSeconds: whole(1, 60, 'Time limit of a connection'),
  responseSeconds: whole(1, 60, 'Time limit of an answer'),
  holdSeconds: whole(1, 60, 'Seconds for which a message waits for a throttling provider'),
  callbackNetworks: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    minItems: 1,
    maxItems: 100,
    description: 'Addresses or networks from which the provider calls back; by default any',
  },
  silentSeconds: whole(1, 60, 'Seconds without any answer after which other carriers get the messages'),
  failuresPercent: whole(1, 100, 'Percentage of failures at which other carriers get the messages'),
  probeSeconds: whole(1, 600, 'Seconds until a failing carrier is tried again'),
  probeSecondsMax: whole(1, 600, 'Maximum seconds between two tries'),
}
