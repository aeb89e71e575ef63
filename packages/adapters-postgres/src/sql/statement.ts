import type { Msisdn } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
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

/** TypeScript type of each PostgreSQL type. */
interface Scalars {
  readonly bool: boolean
  readonly smallint: number
  readonly int: number
  readonly bigint: number
  readonly float8: number
  readonly numeric: string
  readonly text: string
  readonly uuid: string
  readonly timestamptz: Instant
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
type Passed<S extends Scalar> = S extends 'bigint' ? number | Msisdn : S extends 'timestamptz' ? number : Scalars[S]
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

/** PostgreSQL type of a column of a result. With `?` the column may be null. */
type ColumnType = Scalar | `${Scalar}?` | `${'smallint' | 'int' | 'text'}[]` | 'json'
type Columns = Readonly<Record<string, ColumnType>>

declare const value: unique symbol

/** PostgreSQL type of a column whose values have the TypeScript type `Value`. At run time only the name of the type. */
export type Column<Value> = ColumnType & { readonly [value]: Value }

/**
 * Declares a column whose values have a type that SQL does not know: a brand, a union, or the contents of JSON. The
 * values are trusted, because core made them.
 */
export const column = <Value>(type: ColumnType): Column<Value> => type as Column<Value>

/** Declares the same column with values that may be null. */
export const nullable = <Value>(type: Column<Value>): Column<Value | null> => type

type ColumnValue<T> = T extends { readonly [value]: infer Value }
  ? Value
  : T extends Scalar
    ? Scalars[T]
    : T extends `${infer S extends Scalar}?`
      ? Scalars[S] | null
      : T extends `${infer S extends Scalar}[]`
        ? readonly Scalars[S][]
        : unknown
type RowIn<C extends Columns> = { readonly [Name in keyof C]: ColumnValue<C[Name]> }
type NullsIn<C extends Columns> = { readonly [Name in keyof C]: null }
type RowWith<C extends Columns, Joined extends Columns> = ([C] extends [never] ? unknown : RowIn<C>) &
  ([Joined] extends [never] ? unknown : RowIn<Joined> | NullsIn<Joined>)

/** Joins SQL text in a form that editors highlight. Values in `${}` are inserted without quoting. */
export const sql = (texts: TemplateStringsArray, ...parts: readonly (string | number)[]): string =>
  texts.reduce((before, text, i) => `${before}${parts[i - 1] ?? ''}${text}`)

interface Signature<P, C, Joined> {
  readonly parameters: P
  readonly columns?: C
  /** Columns of a left join: either all of them are null, or each has a value of its type. */
  readonly joined?: Joined
}

/**
 * Compiles a statement: each `:name` in the text becomes `$n` with a cast to the type of that parameter. The type of
 * its rows follows from the columns. Throws if the text names an undeclared parameter or never uses a declared one. In
 * a slice of an array, leave a space after the colon.
 */
export function statement<
  const P extends Parameters,
  const C extends Columns = never,
  const Joined extends Columns = never,
>(
  name: string,
  { parameters, columns, joined }: Signature<P, C, Joined>,
  text: string,
): Statement<Named<P>, RowWith<C, Joined>> {
  const names = Object.keys(parameters)
  const used = new Set<string>()
  const compiled = text.replaceAll(/(?<!:):([a-z]\w*)(\[?)/gi, (_, parameter: string, bracket: string) => {
    const type = parameters[parameter]?.replace('?', '')
    if (type === undefined) throw new Error(`statement ${name}: parameter ${parameter} is not declared`)
    if (bracket !== '') throw new Error(`statement ${name}: (:${parameter})[…] needs parentheses`)
    used.add(parameter)
    return `$${names.indexOf(parameter) + 1}::${type}`
  })
  const unused = names.find((parameter) => !used.has(parameter))
  if (unused !== undefined) throw new Error(`statement ${name}: its text does not use the parameter ${unused}`)
  const encoders = names.map((parameter) => [parameter, encoderOf(parameters[parameter] ?? 'text')] as const)
  return {
    name,
    text: compiled,
    parameters,
    columns: { ...columns, ...joined },
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

/** Type of a row that the statement returns. */
export type RowOf<S> = S extends Statement<never, infer Row> ? Row : never

/** The fields of `T`, with null in place of undefined, as PostgreSQL writes them as JSON. */
export type WithNulls<T> = {
  readonly [Field in keyof T]: undefined extends T[Field] ? Exclude<T[Field], undefined> | null : T[Field]
}

type WithoutNulls<T> = {
  readonly [Field in keyof T]: null extends T[Field] ? Exclude<T[Field], null> | undefined : T[Field]
}

/** Returns the fields of a row with undefined in place of null. */
export function fromRow<Row extends object>(row: Row): WithoutNulls<Row> {
  const read = { ...row } as Record<string, unknown>
  for (const field in read) read[field] ??= undefined
  return read as WithoutNulls<Row>
}
