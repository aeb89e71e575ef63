/**
 * One step of the schema. A step that has been released is never changed: the next one corrects it. Steps after the baseline only
 * add (tables, columns with defaults, indexes, functions), so that the version before runs beside them.
 */
export interface Migration {
  /** Its place in the order; the number in its file's name. */
  readonly version: number
  readonly name: string
  /** Several statements, run in one transaction. Names no schema: everything is found by the search path. */
  readonly sql: string
}
