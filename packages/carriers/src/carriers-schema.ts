import { overflowDefaults, overflowSecondsMax, type OverflowAfter } from '@gateway/core/routes'
import { httpParameters } from '@gateway/adapters-http'
import { smppParameters, tlsParameters } from '@gateway/adapters-smpp'

type Schema = Readonly<Record<string, unknown>>

const name = { type: 'string', pattern: '^[a-z0-9-]{1,32}$', description: '1 to 32 of a-z, 0-9 and -' }

/** Schema of a secret: the text itself, or the environment variable, file or stored secret that contains the text. */
const secret = (description: string): Schema => ({
  description,
  type: ['string', 'object'],
  properties: {
    environment: { type: 'string', minLength: 1, description: 'The name of an environment variable' },
    file: { type: 'string', minLength: 1, description: 'A file; a line break at its end does not count' },
    stored: { type: 'string', minLength: 1, description: 'The name of a secret that was typed into the portal' },
  },
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 1,
})

/** Schema of a URL as a secret. It is read in parts, so it cannot be a stored secret. */
function urlSecret(description: string): Schema {
  const { properties, ...schema } = secret(description)
  const { stored: _stored, ...others } = properties as Readonly<Record<string, Schema>>
  return { ...schema, properties: others }
}

const schemasOf = (table: Readonly<Record<string, { readonly schema: Schema }>>): Readonly<Record<string, Schema>> =>
  Object.fromEntries(Object.entries(table).map(([key, { schema }]) => [key, schema]))

/** Schema of the secrets of an HTTP provider by name: one value, or two values during a rotation. */
const secrets: Schema = {
  description: 'The secrets of the provider. Of a list of two the first is used for sending, and both verify callbacks',
  type: 'object',
  additionalProperties: {
    ...secret('A text, or where it is'),
    type: ['string', 'object', 'array'],
    items: secret('A text, or where it is'),
    minItems: 1,
    maxItems: 2,
  },
}

const httpCarrier: Schema = {
  properties: { name, type: {}, secrets, ...httpParameters },
  additionalProperties: false,
  required: ['name', 'provider', 'secrets'],
}

const smppCarrier: Schema = {
  properties: {
    name,
    type: {},
    url: urlSecret('As in CARRIERS: smpp://…, smpps://… or simulator:. Then there is no field but name and url'),
    host: { type: 'string', pattern: '^[^\\s/?#@]+$' },
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    tls: { type: 'boolean', default: false },
    systemId: secret('1 to 15 characters by SMPP 3.4; up to 64'),
    password: secret('At most 8 characters by SMPP 3.4; up to 64'),
    ...schemasOf(smppParameters),
    ...schemasOf(tlsParameters),
  },
  additionalProperties: false,
  required: ['name'],
  if: { required: ['url'] },
  then: { propertyNames: { enum: ['name', 'type', 'url'] } },
  else: { required: ['host', 'systemId', 'password'] },
}

const carrier: Schema = {
  type: 'object',
  properties: { type: { enum: ['smpp', 'http'], default: 'smpp' } },
  if: { properties: { type: { const: 'http' } }, required: ['type'] },
  then: httpCarrier,
  else: smppCarrier,
}

const list = (items: Schema, description: string): Schema => ({
  type: 'array',
  items,
  uniqueItems: true,
  default: [],
  description,
})

const overflowAfter = (by: OverflowAfter, sendKind: string): Schema => ({
  description: `Seconds after which ${sendKind} that found better carriers full goes to the next one; or never`,
  type: ['integer', 'string'],
  minimum: 0,
  maximum: overflowSecondsMax,
  pattern: '^never$',
  default: by,
})

const route = {
  type: 'object',
  properties: {
    name,
    prefixes: list({ type: 'string', pattern: '^[0-9]{1,15}$' }, 'Of numbers, in international form; none: all'),
    accounts: list({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }, 'Numbers of accounts; none: all'),
    senders: list(
      { type: 'string', pattern: '^([0-9]{3,15}|.{0,10}[A-Za-z].{0,10})$' },
      'Sender addresses, numbers and names; none: all',
    ),
    overflow: {
      type: 'object',
      properties: {
        single: overflowAfter(overflowDefaults.single, 'a single send'),
        bulk: overflowAfter(overflowDefaults.bulk, 'bulk'),
      },
      additionalProperties: false,
      default: overflowDefaults,
      description: 'When messages wait no longer for a carrier of a better priority that is full',
    },
    carriers: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          carrier: name,
          priority: { type: 'integer', minimum: 1, maximum: 100, default: 1, description: '1 is tried first' },
          weight: {
            type: 'integer',
            minimum: 1,
            maximum: 1000,
            default: 1,
            description: 'The share among carriers of the same priority',
          },
        },
        additionalProperties: false,
        required: ['carrier'],
      },
    },
  },
  additionalProperties: false,
  required: ['name', 'carriers'],
}

/** JSON Schema (draft 7) of the file that `CARRIERS=file:` names (docs/carriers.md). */
export const carriersSchema: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Carriers and routes',
  type: 'object',
  properties: {
    $schema: { type: 'string', description: 'For editors; not read' },
    publicUrl: {
      type: 'string',
      pattern: '^https?://[^\\s]+$',
      description: 'Public URL of the gateway, at which HTTP providers call back; by default PUBLIC_URL',
    },
    carriers: { type: 'array', minItems: 1, items: carrier },
    routes: { type: 'array', items: route, description: 'Tried in this order; none: any carrier takes any message' },
  },
  additionalProperties: false,
  required: ['carriers'],
}
