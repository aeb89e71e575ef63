import { Ajv } from 'ajv'
import { Type, type Static } from 'typebox'

const closed = { additionalProperties: false }
const filled = Type.String({ minLength: 1 })
const mobile = Type.String({ pattern: '^[1-9][0-9]{6,14}$' })
const credits = Type.Number({ minimum: 0, multipleOf: 0.1 })

const Keyed = { id: Type.Integer({ minimum: 1 }), key: filled }
const Paired = { ...Keyed, user: filled, password: filled }

const Configuration = Type.Object(
  {
    accounts: Type.Object(
      {
        main: Type.Object(Paired, closed),
        sub: Type.Object({ ...Keyed, login: filled }, closed),
        otherSub: Type.Object(Keyed, closed),
        stranger: Type.Object(Keyed, closed),
        locked: Type.Optional(Type.Object(Paired, closed)),
        lockedMain: Type.Optional(Type.Object({ ...Keyed, sub: Type.Integer({ minimum: 1 }) }, closed)),
        trial: Type.Optional(Type.Object({ ...Keyed, ownNumber: mobile }, closed)),
        transactional: Type.Optional(Type.Object(Keyed, closed)),
        limited: Type.Optional(Type.Object(Keyed, closed)),
        coded: Type.Optional(Type.Object({ ...Keyed, code: Type.String({ pattern: '^[0-9]{3,15}$' }) }, closed)),
      },
      closed,
    ),
    keys: Type.Optional(Type.Object({ revoked: Type.Optional(filled), expired: Type.Optional(filled) }, closed)),
    numbers: Type.Object(
      {
        delivered: Type.Array(mobile, { minItems: 40, uniqueItems: true }),
        price: credits,
        outcomes: Type.Optional(
          Type.Array(Type.Object({ number: mobile, statusCode: Type.Integer(), refunded: Type.Boolean() }, closed), {
            maxItems: 20,
          }),
        ),
        priced: Type.Optional(Type.Object({ number: mobile, price: credits }, closed)),
        blacklisted: Type.Optional(mobile),
        doNotContact: Type.Optional(mobile),
        optedOutByHand: Type.Optional(mobile),
      },
      closed,
    ),
    replies: Type.Optional(
      Type.Object(
        {
          command: Type.Array(filled, { minItems: 1 }),
          to: Type.String({ pattern: '^[0-9]{3,15}$' }),
          folder: Type.Optional(filled),
          environment: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]))),
        },
        closed,
      ),
    ),
    smpp: Type.Optional(
      Type.Object(
        {
          host: filled,
          port: Type.Integer({ minimum: 1, maximum: 65_535 }),
          systemId: filled,
          password: filled,
        },
        closed,
      ),
    ),
    corsOrigin: Type.Optional(filled),
    logInFailuresMax: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    deliverySeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600 })),
    clockSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 3600 })),
  },
  closed,
)

/** Resources that the suite may use. docs/conformance.md describes every field. */
export type Configuration = Static<typeof Configuration>

const isConfiguration = new Ajv({ allErrors: true, multipleOfPrecision: 6 }).compile<Configuration>(Configuration)

/** Parses a configuration file. Returns what is wrong with it, one line for each field, if it is invalid. */
export function readConfiguration(text: string): Configuration | { readonly wrong: readonly string[] } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (problem) {
    return { wrong: [`it is not JSON: ${(problem as Error).message}`] }
  }
  if (isConfiguration(value)) return value
  return { wrong: (isConfiguration.errors ?? []).map(problemText) }
}

function problemText({
  instancePath,
  message = '',
  params,
}: {
  instancePath: string
  message?: string
  params: object
}): string {
  const field = instancePath.slice(1).replaceAll('/', '.') || 'the file'
  const unknown = 'additionalProperty' in params ? `: ${String(params.additionalProperty)}` : ''
  return `${field} ${message}${unknown}`
}
