import { Type, type Static } from 'typebox'

/** Value of a placeholder template: text with `{placeholders}`, a constant, or a list or an object of templates. */
export type Template = string | number | boolean | null | readonly Template[] | { readonly [field: string]: Template }

/** Template whose value depends on another value: `{"$choose": "{alphabet}", "from": {"gsm-7": "text"}}`. */
export interface Choice {
  readonly $choose: string
  readonly from: Readonly<Record<string, Template>>
}

/** Place of a value in an answer or a callback: a JSON pointer, or a pattern whose first group is the value. */
export type Place = string | { readonly pattern: string }

const strict = { additionalProperties: false }
const pointerPattern = '^(/([^~/]|~[01])*)*$'
const patternLengthMax = 500

const pointer = (description: string) =>
  Type.String({ pattern: pointerPattern, description: `${description} A JSON pointer.` })

const pattern = (description: string) =>
  Type.String({ minLength: 1, maxLength: patternLengthMax, description: `${description} A regular expression of RE2.` })

/** Schema of one value or a list of values. It has no `anyOf`, so that an error names the one field that is wrong. */
const oneOrMore = <Item>(
  item: { readonly type: string | readonly string[] } & Readonly<Record<string, unknown>>,
  description: string,
) =>
  Type.Unsafe<Item | readonly Item[]>({
    ...item,
    type: [...new Set([item.type, 'array'].flat())],
    items: item,
    minItems: 1,
    description,
  })

const pointers = (description: string) =>
  oneOrMore<string>(
    { type: 'string', pattern: pointerPattern },
    `${description} A JSON pointer, or several, of which the first that finds a value counts.`,
  )

const places = (description: string) =>
  oneOrMore<Place>(
    {
      type: ['string', 'object'],
      pattern: pointerPattern,
      properties: { pattern: { type: 'string', minLength: 1, maxLength: patternLengthMax } },
      required: ['pattern'],
      additionalProperties: false,
    },
    `${description} A JSON pointer; or a pattern whose first group is the value; or a list of both.`,
  )

const scalar = { type: ['string', 'number', 'boolean'] }
const conditions = (description: string) =>
  Type.Record(
    Type.String({ pattern: pointerPattern }),
    oneOrMore<string | number | boolean>(scalar, 'The value, or the possible values.'),
    { additionalProperties: false, description },
  )

const fields = (description: string) =>
  Type.Unsafe<Readonly<Record<string, Template>>>({
    type: 'object',
    additionalProperties: { type: ['string', 'object'] },
    description,
  })

const wordOf = <Word extends string>(words: readonly Word[], description: string) =>
  Type.Unsafe<Word>({ enum: words, description })

const send = Type.Object(
  {
    url: Type.String({
      pattern: '^(https?://[^/]|/)',
      description: 'Where a message is sent. A path alone needs the setting baseUrl of the carrier.',
    }),
    method: Type.Optional(wordOf(['POST', 'PUT', 'GET'], 'Default POST.')),
    query: Type.Optional(fields('Parameters of the URL.')),
    headers: Type.Optional(fields('Headers besides content-type and accept.')),
    basic: Type.Optional(
      Type.Unsafe<readonly [string, string]>({
        type: 'array',
        items: { type: 'string' },
        minItems: 2,
        maxItems: 2,
        description: 'User and password of HTTP basic authentication.',
      }),
    ),
    form: Type.Optional(fields('The body as a form.')),
    json: Type.Optional(
      Type.Unsafe<Template>({
        type: ['object', 'array'],
        description: 'The body as JSON. Placeholders keep their type.',
      }),
    ),
    repeatable: Type.Optional(
      Type.Object(
        {
          hours: Type.Number({
            exclusiveMinimum: 0,
            maximum: 168,
            description: 'For so long a repetition with the same {ownId} is certainly not delivered twice.',
          }),
        },
        { ...strict, description: 'The provider guarantees that a repetition is not delivered twice.' },
      ),
    ),
  },
  { ...strict, description: 'The request that hands over one message.' },
)

const status = { type: ['integer', 'string'], minimum: 100, maximum: 599, pattern: '^[2-5]xx$' }

const rule = Type.Object(
  {
    status: Type.Optional(oneOrMore<number | string>(status, 'HTTP status, such as 429 or 4xx. Left out: any.')),
    at: Type.Optional(pointer('The value that is tested.')),
    header: Type.Optional(
      Type.String({ pattern: '^[a-z0-9-]+$', description: 'The header that is tested, in lower case.' }),
    ),
    in: Type.Optional(
      Type.Unsafe<readonly (string | number | boolean)[]>({
        type: 'array',
        items: scalar,
        minItems: 1,
        description: 'Values that fulfil the rule. Numbers and their digits are the same.',
      }),
    ),
    pattern: Type.Optional(pattern('What the value contains. Without "at" and "header": what the body contains.')),
    is: wordOf(
      ['accepted', 'refused', 'throttled', 'unknown', 'broken'],
      'refused: for good. throttled: for now. broken: the account at the provider does not work, so that messages wait.',
    ),
    wait: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 3600,
        description: 'Seconds to wait if throttled without Retry-After. Default 1.',
      }),
    ),
    optOut: Type.Optional(Type.Literal(true, { description: 'The recipient has opted out at the provider.' })),
    reference: Type.Optional(
      Type.Literal('{ownId}', { description: 'If accepted without an id: the id that was sent is the id.' }),
    ),
  },
  { ...strict, description: 'A condition, and what the answer means if it holds. All given conditions must hold.' },
)

const price = Type.Object(
  {
    amount: pointers('The amount.'),
    currency: Type.Optional(pointers('The currency. Left out: the setting "currency" of the carrier.')),
    pattern: Type.Optional(pattern('Takes amount and currency apart, with groups of these names.')),
    decimals: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 9, description: 'The amount is a whole number with this many decimals.' }),
    ),
  },
  { ...strict, description: 'What the provider charges for the message.' },
)

const answer = Type.Object(
  {
    each: Type.Optional(
      pointer('A list with an entry for each part of the message. Other pointers begin at an entry.'),
    ),
    id: places("The provider's id of the message, which receipts name."),
    error: Type.Optional(places('The code or text of an error, for operators.')),
    price: Type.Optional(price),
    rules: Type.Array(rule, {
      minItems: 1,
      description:
        'The first rule that holds counts. If none holds: a 4xx delays the message, everything else is unknown.',
    }),
  },
  { ...strict, description: 'What an answer means.' },
)

export const signatureAlgorithms = [
  ...['hmac-sha1', 'hmac-sha256', 'hmac-sha512', 'md5+key', 'sha1+key', 'sha256+key', 'sha512+key'],
  ...['ed25519', 'jwt', 'basic', 'path'],
] as const

const carriedAt = '^(header:[a-z0-9-]+|field:[^:]+)$'

const signature = Type.Object(
  {
    algorithm: Type.Unsafe<string>({
      enum: signatureAlgorithms,
      description: 'path: nothing is signed, and the secret "path" is the last part of the URL.',
    }),
    key: Type.Optional(oneOrMore<string>({ type: 'string' }, 'The key; for basic, user and password.')),
    keyEncoding: Type.Optional(wordOf(['utf8', 'base64', 'hex'], 'Default utf8; for ed25519 always base64.')),
    keyPrefix: Type.Optional(Type.String({ description: 'Text before the key that is no part of it.' })),
    over: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        description:
          'The signed pieces: url, url:sorted, body, form:concat, params, header:name, field:name; all else is literal.',
      }),
    ),
    encoding: Type.Optional(wordOf(['base64', 'base64url', 'hex'], 'Default base64.')),
    at: Type.Optional(
      Type.String({ pattern: carriedAt, description: 'Where the signature is: header:name or field:name.' }),
    ),
    several: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1, description: 'What separates several signatures.' }),
    ),
    prefix: Type.Optional(Type.String({ minLength: 1, description: 'Text before each signature, such as v1,' })),
    age: Type.Optional(
      Type.Object(
        {
          at: Type.String({
            pattern: carriedAt,
            description: 'The time of the signature, in seconds or milliseconds since 1970.',
          }),
          seconds: Type.Integer({
            minimum: 1,
            maximum: 604_800,
            description:
              'How old a signature may be. It covers the retries of the provider, which may repeat the time.',
          }),
        },
        strict,
      ),
    ),
    issuer: Type.Optional(Type.String({ description: 'For jwt: the claim iss.' })),
    claims: Type.Optional(
      Type.Record(Type.String(), wordOf(['url', 'body'], 'The piece.'), {
        description: 'For jwt: claims that are the SHA-256 of a piece in hexadecimal.',
      }),
    ),
  },
  { ...strict, description: 'How a callback proves where it comes from.' },
)

export const stateWords = [
  ...['delivered', 'expired', 'cancelled', 'undeliverable', 'rejected', 'failed', 'under-way', 'unknown', 'none'],
] as const
export type StateWord = (typeof stateWords)[number]

const receipt = Type.Object(
  {
    when: Type.Optional(conditions('What a receipt is recognized by.')),
    reference: pointers("The provider's id of the message."),
    ownId: Type.Optional(pointers('The id that was sent with the message as {ownId}.')),
    ofPart: Type.Optional(
      Type.Literal(true, { description: 'Each part of a long text has receipts of its own, with an id of its own.' }),
    ),
    number: Type.Optional(pointers("The recipient's number.")),
    state: pointers('The state.'),
    error: Type.Optional(pointers('The code of an error.')),
    optOut: Type.Optional(
      Type.Unsafe<readonly (string | number)[]>({
        type: 'array',
        items: { type: ['string', 'number'] },
        minItems: 1,
        description: 'Errors that mean that the recipient has opted out at the provider.',
      }),
    ),
    price: Type.Optional(price),
    states: Type.Record(Type.String(), wordOf(stateWords, 'none: it says nothing yet.'), {
      description: 'What the states mean. A receipt with another state is kept as unread.',
    }),
  },
  { ...strict, description: 'Receipts.' },
)

const inbound = Type.Object(
  {
    when: Type.Optional(conditions('What a message is recognized by.')),
    reference: Type.Optional(pointers("The provider's id of the message, which must differ for equal messages.")),
    from: pointers('Who wrote.'),
    to: Type.Optional(pointers('The address that was written to.')),
    text: pointers('The text.'),
    sent: Type.Optional(pointers('When it was sent: RFC 3339, or seconds since 1970.')),
    parts: Type.Optional(
      Type.Object(
        {
          group: pointers('What the parts of one text have in common.'),
          number: pointers('The number of the part, from 1.'),
          of: pointers('The number of parts.'),
        },
        { ...strict, description: 'Long texts arrive in parts, which are joined.' },
      ),
    ),
  },
  { ...strict, description: 'Messages of people.' },
)

const callbacks = Type.Object(
  {
    signature,
    each: Type.Optional(pointer('A list of receipts and messages. Other pointers begin at an entry.')),
    receipt: Type.Optional(receipt),
    inbound: Type.Optional(inbound),
    ignored: Type.Optional(conditions('What is neither a receipt nor a message.')),
    answer: Type.Optional(
      Type.Object(
        {
          status: Type.Optional(Type.Integer({ minimum: 200, maximum: 299, description: 'Default 200.' })),
          body: Type.Optional(Type.String({ maxLength: 100, description: 'Default: nothing.' })),
        },
        { ...strict, description: 'What the provider expects as an answer.' },
      ),
    ),
  },
  { ...strict, description: 'Receipts and messages that the provider sends.' },
)

/** JSON Schema (draft 2020-12) of the description of a provider. */
export const descriptionSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: 'For editors; not read.' })),
    title: Type.Optional(Type.String({ minLength: 1, description: 'The name of the provider, for people.' })),
    sources: Type.Optional(Type.Array(Type.String(), { description: 'Where this comes from.' })),
    numbers: Type.Optional(
      wordOf(['digits', 'plus', '00', 'national'], 'How the provider writes numbers. Default digits.'),
    ),
    secrets: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-zA-Z][a-zA-Z0-9]{0,31}$' }), Type.String(), {
        additionalProperties: false,
        description: 'What each secret is, and where the provider shows it.',
      }),
    ),
    send,
    answer,
    callbacks: Type.Optional(callbacks),
  },
  { ...strict, title: 'HTTP provider', $schema: 'https://json-schema.org/draft/2020-12/schema' },
)

/** Description of a provider: how to send a message, and how to read answers and callbacks. */
export type HttpDescription = Static<typeof descriptionSchema>
export type AnswerRule = HttpDescription['answer']['rules'][number]
export type PricePlaces = NonNullable<HttpDescription['answer']['price']>
export type CallbackDescription = NonNullable<HttpDescription['callbacks']>
export type SignatureDescription = CallbackDescription['signature']
export type Conditions = NonNullable<NonNullable<CallbackDescription['receipt']>['when']>
