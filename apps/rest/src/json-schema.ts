declare const fits: unique symbol
/** Neither JSON nor a validator sees it. */
const mayMiss = Symbol('may miss')

/** A JSON Schema; what fits it is a `Value`. */
export interface Schema<Value = unknown> {
  readonly title?: string
  readonly description?: string
  readonly [fits]?: Value
}

/** A field that may be left out. */
export interface MayMiss {
  readonly [mayMiss]: true
}

/** The schemas of the fields of an object, by their names. */
export type Fields = Readonly<Record<string, Schema>>

/** What fits a schema. */
export type Fitting<S extends Schema> = S extends Schema<infer Value> ? Value : never

type Missable<F extends Fields> = { [Name in keyof F]: F[Name] extends MayMiss ? Name : never }[keyof F]
type FittingFields<F extends Fields> = { [Name in Exclude<keyof F, Missable<F>>]: Fitting<F[Name]> } & {
  [Name in Missable<F>]?: Fitting<F[Name]>
}

interface Said {
  readonly title?: string
  readonly description?: string
}
interface OfText extends Said {
  readonly pattern?: string
}
interface OfNumber extends Said {
  readonly format?: 'int64'
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: number
}
interface OfArray extends Said {
  readonly minItems?: number
  readonly maxItems?: number
}

/** Schemas by the kind of what fits them. A library for this took 0.13 s of each start, and its types 15 s of a strict type check. */
export const Type = {
  String: (said: OfText = {}): Schema<string> => kind('string', said),
  Number: (said: OfNumber = {}): Schema<number> => kind('number', said),
  Integer: (said: OfNumber = {}): Schema<number> => kind('integer', said),
  Boolean: (said: Said = {}): Schema<boolean> => kind('boolean', said),
  Null: (): Schema<null> => kind('null', {}),
  Literal: <const Value extends string | number | boolean>(value: Value): Schema<Value> =>
    kind(typeof value, { const: value }),
  /** One of these values. */
  Enum: <Value extends string | number>(values: readonly Value[], said: Said = {}): Schema<Value> =>
    schema({ enum: values, ...said }),
  /** What fits one of these schemas. */
  Union: <S extends Schema>(anyOf: readonly S[], said: Said = {}): Schema<Fitting<S>> => schema({ anyOf, ...said }),
  Array: <S extends Schema>(items: S, said: OfArray = {}): Schema<Fitting<S>[]> => kind('array', { items, ...said }),
  /** Has these fields, and perhaps others. */
  Object: <F extends Fields>(properties: F, said: Said = {}): Schema<FittingFields<F>> => {
    const required = Object.keys(properties).filter((name) => !(mayMiss in (properties[name] ?? {})))
    return kind('object', { ...(required.length > 0 && { required }), properties, ...said })
  },
  Optional: <S extends Schema>(field: S): S & MayMiss => ({ ...field, [mayMiss]: true }),
}

const schema = (keywords: object): Schema<never> => keywords
const kind = (type: string, keywords: object): Schema<never> => schema({ type, ...keywords })
