/**
 * A statement that every message needs. It is prepared under its name (30 % cheaper than unnamed), once a connection, with
 * a plan that does not depend on the values; arrays are passed as text. `Row` is what it returns.
 *
 * The plan is made for what is there then, perhaps nothing, and is kept when the tables have filled. So a prepared statement has a shape
 * for which an index is the only way: a row is looked up by `cross join lateral (select … where id = x.id offset 0)`, and what is
 * updated or deleted is found by `id = any (array[x.id])` or `ctid = any (array(select …))`. To join on `=` lets the planner read
 * the whole table in the order of its index and compare every row of it with every row of the other side.
 */
export interface PreparedStatement<Row> {
  readonly name: string
  readonly text: string
  /** Never there: it only ties the type to the text. */
  readonly row?: Row
}
