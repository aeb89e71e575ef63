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
