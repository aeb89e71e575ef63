import { fieldsMissing, fillIn, type BulkRow } from '@gateway/core/bulk-sends'
import { count } from './format.ts'
import { TextSize } from './text-size.tsx'

/** Columns of a file, which a text may use as fields, and the first rows. */
export interface ListOf {
  readonly columns: readonly string[]
  readonly rows: readonly BulkRow[]
}

/**
 * Lists the fields of a file and shows the text as it will be sent to the first row. `insert` is called when a field is
 * clicked.
 */
export function ListFields({
  of: { columns, rows },
  text,
  insert,
}: {
  readonly of: ListOf
  readonly text: string
  readonly insert?: (field: string) => void
}) {
  const [first] = rows
  const missing = fieldsMissing(text, columns)
  const filled = first === undefined ? '' : fillIn(text, columns, first)
  return (
    <>
      <p class="hint text">
        Fields of your file:{' '}
        {columns.map((name) => (
          <Field key={name} name={`{${name}}`} insert={insert} />
        ))}
      </p>
      {missing.length > 0 ? (
        <p class="hint">Your file has no column {missing.map((name) => `“${name}”`).join(', ')}.</p>
      ) : (
        first !== undefined &&
        filled.trim() !== '' && (
          <>
            <blockquote class="text">{filled}</blockquote>
            <p class="hint">
              The message of row {count(first.row)} to {first.number}: <TextSize text={filled} />
            </p>
          </>
        )
      )}
    </>
  )
}

const Field = ({ name, insert }: { readonly name: string; readonly insert: ((field: string) => void) | undefined }) =>
  insert === undefined ? (
    <code>{name} </code>
  ) : (
    <>
      <button type="button" class="plain" onClick={() => insert(name)}>
        {name}
      </button>{' '}
    </>
  )
