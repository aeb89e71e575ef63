import type { Msisdn } from '@gateway/core/messages'
import { arrayOf, arrayOfNullable, arrayOfTexts, arrayOfTimes, timestamp, type ArrayText } from './arrays.ts'

/**
 * A statement with named parameters, for `Connections.run`. It is prepared under its name once a connection (30 %
 * cheaper than unnamed), with a plan that does not depend on the values.
 *
 * That plan is made for what is in the tables then, perhaps nothing, and kept when they have filled. So the statements
 * of the hot connections have shapes for which an index is the only way, whatever the planner believes of the tables:
 *
 * - `cross join lateral (select … where id = x.id offset 0)` looks up one row for each row. Without `offset 0` the
 *   planner turns it into a join, and a join on `=` may read the whole table in the order of its index.
 * - `id = any (array[x.id])` in an update or delete: the same lookup where no lateral join can stand.
 * - `ctid = any (array(select …))` deletes rows that a CTE has locked. The CTE decides which; its array is made once.
 * - `case when … then true end` as a condition is no match for any index, so it stays a filter on rows found by
 *   another.
 * - `for update skip locked` in a CTE and `order by` before an update make callers lock in one order, or not wait at
 *   all.
 * - `as materialized` keeps a CTE from being merged into its user, where it would run once a row.
 *
 * Tests check the plans (`plans.test.ts`, `cached-plans.test.ts`); `npx pnpm explain NAME` prints one.
 */
export interface Statement<Values, Row> {
  readonly name: string
  readonly text: string
  readonly parameters?: Parameters
  readonly columns?: Columns
  /** The values in the order of `$1`, `$2` …. */
  valuesOf(values: Values): unknown[]
  /** Never there: it ties the type of the rows to the text. */
  readonly row?: Row
}

/**
 * What a value of a type of PostgreSQL is here: times are milliseconds since 1970, long numbers of digits may be text.
 */
interface Scalars {
  readonly bool: boolean
  readonly smallint: number
  readonly int: number
  readonly bigint: number
  readonly float8: number
  readonly numeric: string
  readonly text: string
  readonly uuid: string
  readonly timestamptz: number
  readonly bytea: Buffer
}
type Scalar = keyof Scalars

/** With `?` it may be null, or undefined; before `[]` each element may. Arrays are passed as text. */
type ParameterType = Scalar | `${Scalar}?` | `${Scalar}[]` | `${Scalar}?[]`
type Parameters = Readonly<Record<string, ParameterType>>

type Given<S extends Scalar> = S extends 'bigint' ? number | Msisdn : Scalars[S]
type ValueOf<T extends ParameterType> = T extends `${infer S extends Scalar}?[]`
  ? readonly (Given<S> | null | undefined)[] | ArrayText
  : T extends `${infer S extends Scalar}[]`
    ? readonly Given<S>[] | ArrayText
    : T extends `${infer S extends Scalar}?`
      ? Given<S> | null | undefined
      : T extends Scalar
        ? Given<T>
        : never
type Named<P extends Parameters> = { readonly [Name in keyof P]: ValueOf<P[Name]> }

/** Of a result: with `?` it may be null. What is json needs `rows`. */
type ColumnType = Scalar | `${Scalar}?` | `${'smallint' | 'int' | 'text'}[]` | 'json'
type Columns = Readonly<Record<string, ColumnType>>

declare const row: unique symbol
type ColumnsOfRows<Row> = Columns & { readonly [row]?: Row }

type RowIn<C extends Columns> =
  C extends ColumnsOfRows<infer Row>
    ? unknown extends Row
      ? { readonly [Name in keyof C]: ColumnValue<C[Name]> }
      : Row
    : never
type ColumnValue<T> = T extends Scalar
  ? Scalars[T]
  : T extends `${infer S extends Scalar}?`
    ? Scalars[S] | null
    : unknown

type ColumnTypeOf<T> =
  NonNullable<T> extends number
    ? 'smallint' | 'int' | 'bigint' | 'float8' | 'timestamptz'
    : NonNullable<T> extends string
      ? 'text' | 'uuid' | 'numeric'
      : NonNullable<T> extends boolean
        ? 'bool'
        : NonNullable<T> extends Buffer
          ? 'bytea'
          : 'json' | `${'smallint' | 'int' | 'text'}[]`

/** Columns whose values have types of ours: brands, unions, what is in a json. Each has a column type that fits. */
export const rows = <Row>(
  columns: Row extends unknown ? { readonly [Name in keyof Row]: ColumnTypeOf<Row[Name]> } : never,
): ColumnsOfRows<Row> => columns

/** SQL in a form that editors highlight; what stands in `${}` is put in as it is. */
export const sql = (texts: TemplateStringsArray, ...parts: readonly (string | number)[]): string =>
  texts.reduce((before, text, i) => `${before}${parts[i - 1] ?? ''}${text}`)

/**
 * `:name` in the text is the parameter of that name, as `$n` with a cast to its type. Throws where the text names one
 * that is not declared (in a slice of an array leave a space after the colon), or names one of them never.
 */
export function statement<const P extends Parameters, const C extends Columns>(
  name: string,
  { parameters, columns }: { readonly parameters: P; readonly columns?: C },
  text: string,
): Statement<Named<P>, RowIn<C>> {
  const names = Object.keys(parameters)
  const used = new Set<string>()
  const compiled = text.replaceAll(/(?<!:):([a-z]\w*)(\[?)/gi, (_, parameter: string, bracket: string) => {
    const type = parameters[parameter]?.replace('?', '')
    if (type === undefined) throw new Error(`statement ${name}: no parameter ${parameter}`)
    if (bracket !== '') throw new Error(`statement ${name}: (:${parameter})[…] needs parentheses`)
    used.add(parameter)
    return `$${names.indexOf(parameter) + 1}::${type}`
  })
  const unused = names.find((parameter) => !used.has(parameter))
  if (unused !== undefined) throw new Error(`statement ${name}: parameter ${unused} is not in its text`)
  const encoders = names.map((parameter) => [parameter, encoderOf(parameters[parameter] ?? 'text')] as const)
  return {
    name,
    text: compiled,
    parameters,
    ...(columns && { columns }),
    valuesOf: (values) =>
      encoders.map(([parameter, encode]) => encode((values as Readonly<Record<string, unknown>>)[parameter])),
  }
}

/** What a caller of a statement gives. */
export type ValuesOf<S> = S extends Statement<infer Values, unknown> ? Values : never

/** The values of a call in the order of `$1`, `$2` …. */
export const valuesOf = <Values>(statement: Statement<Values, unknown>, values: NoInfer<Values>): unknown[] =>
  statement.valuesOf(values)

type Encoder = (value: unknown) => unknown

function encoderOf(type: ParameterType): Encoder {
  const scalar = type.replace(/\W+$/, '')
  if (!type.endsWith('[]')) return scalar === 'timestamptz' ? ofTime : (value) => value ?? null
  const encode = arrayEncoderOf(scalar, type.endsWith('?[]')) as Encoder
  return (value) => (typeof value === 'string' ? value : encode(value))
}

function arrayEncoderOf(scalar: string, isNullable: boolean) {
  if (scalar === 'text') return arrayOfTexts
  if (scalar === 'timestamptz') return arrayOfTimes
  return isNullable ? arrayOfNullable : arrayOf
}

const ofTime: Encoder = (value) => (typeof value === 'number' ? timestamp(value) : null)

/**
 * A row whose columns are the fields of `T`, null where these are undefined; brands are trusted, since core gave the
 * values. A query declares it as what it returns, so that no value is declared twice.
 */
export type RowOf<T> = {
  readonly [Field in keyof T]: undefined extends T[Field] ? Exclude<T[Field], undefined> | null : T[Field]
}

export function fromRow<T extends object>(row: RowOf<T>): T {
  const read: Record<string, unknown> = { ...row }
  for (const field in read) read[field] ??= undefined
  return read as T
}
