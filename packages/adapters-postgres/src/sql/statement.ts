import type { Msisdn } from '@gateway/core/messages'
import { arrayOf, arrayOfNullable, arrayOfTexts, arrayOfTimes, timestamp, type ArrayText } from './arrays.ts'

/**
 * A statement with named parameters, for `Connections.run`. Each connection prepares it once under its name (30 %
 * cheaper than unnamed), with a plan that does not depend on the values.
 *
 * The server makes that plan for the tables as they are then, perhaps empty, and keeps it when they have filled.
 * Therefore the statements of the hot connections are written so that only an index can answer them, whatever the
 * planner believes about the tables:
 *
 * - `cross join lateral (select … where id = x.id offset 0)` looks up one row for each row. Without `offset 0` the
 *   planner turns it into a join, and a join on `=` may read the whole table in the order of its index.
 * - `id = any (array[x.id])` does the same lookup in an update or delete, where a lateral join is not possible.
 * - `ctid = any (array(select …))` deletes rows that a CTE has locked. The CTE chooses the rows and runs once.
 * - `case when … then true end` as a condition matches no index, so it stays a filter on rows that another condition
 *   found.
 * - `for update skip locked` in a CTE, and `order by` before an update, make callers lock in one order or skip each
 *   other's rows.
 * - `as materialized` prevents a CTE from being inlined where it would run once a row.
 *
 * Tests check the plans (`plans.test.ts`, `cached-plans.test.ts`); `npx pnpm explain NAME` prints one.
 */
export interface Statement<Values, Row> {
  readonly name: string
  readonly text: string
  readonly parameters?: Parameters
  readonly columns?: Columns
  /** Returns the encoded values in the order of `$1`, `$2` …. */
  valuesOf(values: Values): unknown[]
  /** Never set at run time. It ties the type of the rows to the statement. */
  readonly row?: Row
}

/** TypeScript type of each PostgreSQL type. A time is in milliseconds since 1970. */
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

/**
 * Type of a parameter. With `?` the value may be null or undefined; with `?[]` each element may. Arrays are passed as
 * text.
 */
type ParameterType = Scalar | `${Scalar}?` | `${Scalar}[]` | `${Scalar}?[]`
type Parameters = Readonly<Record<string, ParameterType>>

/** Value that a caller passes for a scalar. A `bigint` may also be a phone number, which is a text of digits. */
type Passed<S extends Scalar> = S extends 'bigint' ? number | Msisdn : Scalars[S]
type ValueOf<T extends ParameterType> = T extends `${infer S extends Scalar}?[]`
  ? readonly (Passed<S> | null | undefined)[] | ArrayText
  : T extends `${infer S extends Scalar}[]`
    ? readonly Passed<S>[] | ArrayText
    : T extends `${infer S extends Scalar}?`
      ? Passed<S> | null | undefined
      : T extends Scalar
        ? Passed<T>
        : never
type Named<P extends Parameters> = { readonly [Name in keyof P]: ValueOf<P[Name]> }

/**
 * Type of a column of a result. With `?` the column may be null. The value of a `json` column is declared by `rows`.
 */
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

/**
 * Declares columns whose values have types that SQL does not know: brands, unions, contents of JSON. Each field of
 * `Row` needs a column type that fits.
 */
export const rows = <Row>(
  columns: Row extends unknown ? { readonly [Name in keyof Row]: ColumnTypeOf<Row[Name]> } : never,
): ColumnsOfRows<Row> => columns

/** Joins SQL text in a form that editors highlight. Values in `${}` are inserted without quoting. */
export const sql = (texts: TemplateStringsArray, ...parts: readonly (string | number)[]): string =>
  texts.reduce((before, text, i) => `${before}${parts[i - 1] ?? ''}${text}`)

/**
 * Compiles a statement: each `:name` in the text becomes `$n` with a cast to the type of that parameter. Throws if the
 * text names an undeclared parameter or never uses a declared one. In a slice of an array, leave a space after the
 * colon.
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

/** Values that a caller passes to a statement. */
export type ValuesOf<S> = S extends Statement<infer Values, unknown> ? Values : never

/** Returns the encoded values of a call in the order of `$1`, `$2` …. */
export const valuesOf = <Values>(statement: Statement<Values, unknown>, values: NoInfer<Values>): unknown[] =>
  statement.valuesOf(values)

type Encoder = (value: unknown) => unknown

function encoderOf(type: ParameterType): Encoder {
  const scalar = type.replace(/\W+$/, '')
  if (!type.endsWith('[]')) return scalar === 'timestamptz' ? encodeTime : (value) => value ?? null
  const encode = arrayEncoderOf(scalar, type.endsWith('?[]')) as Encoder
  return (value) => (typeof value === 'string' ? value : encode(value))
}

function arrayEncoderOf(scalar: string, isNullable: boolean) {
  if (scalar === 'text') return arrayOfTexts
  if (scalar === 'timestamptz') return arrayOfTimes
  return isNullable ? arrayOfNullable : arrayOf
}

const encodeTime: Encoder = (value) => (typeof value === 'number' ? timestamp(value) : null)

/**
 * Row whose columns are the fields of `T`, with null in place of undefined. A statement that returns values of `T`
 * declares its rows as this type, so that no field is declared twice. Brands are trusted, because core made the values.
 */
export type RowOf<T> = {
  readonly [Field in keyof T]: undefined extends T[Field] ? Exclude<T[Field], undefined> | null : T[Field]
}

/** Returns the value of `T` that a row holds: each null becomes undefined. */
export function fromRow<T extends object>(row: RowOf<T>): T {
  const read: Record<string, unknown> = { ...row }
  for (const field in read) read[field] ??= undefined
  return read as T
}
