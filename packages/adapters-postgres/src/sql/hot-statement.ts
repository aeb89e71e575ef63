/**
 * A statement that every message needs. It is prepared under its name (30 % cheaper than unnamed), once a connection, with
 * a plan that does not depend on the values; arrays are passed as text. `Row` is what it returns.
 */
export interface HotStatement<Row> {
  readonly name: string
  readonly text: string
  /** Never there: it only ties the type to the text. */
  readonly row?: Row
}
