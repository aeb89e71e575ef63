import { Choice } from '../../components.tsx'
import { ListFields } from '../../list-fields.tsx'
import type { View } from '../../page.ts'
import { columnsMax, readList, wholeLines, type ListProblem, type RecipientList } from '../../read-list.ts'

export const LIST_PROBLEM: Readonly<Record<ListProblem, string>> = {
  empty: 'There is nothing in the file.',
  'too-many': 'The file has more than 100 000 rows. Divide it into several files.',
  'too-many-columns': `The file has more than ${columnsMax} columns.`,
  broken: 'The file is no list of comma-separated values: a quote is not closed, or a row is very long.',
  'no-numbers': 'No column of the file has mobile numbers. They are written with the country code.',
}

interface Previewed {
  readonly list: RecipientList
  readonly text: string
}

function Columns({ list: { columns, numberColumn, rows }, text }: Previewed) {
  const list = { columns, rows: rows.slice(0, 1) }
  return (
    <>
      <Choice
        name="column"
        label="The numbers are in the column"
        value={String(numberColumn)}
        options={columns.map((name, at) => [String(at), name] as const)}
      />
      <div data-island="fields" data-list={JSON.stringify(list)}>
        <ListFields of={list} text={text} />
      </div>
    </>
  )
}

/** A place below the field of a file, which a script fills when one is chosen. */
export const FilePreview = ({ of }: { readonly of?: string | Previewed }) => (
  <div id="preview" data-island="file">
    {typeof of === 'string' ? <p class="problem">{of}</p> : of !== undefined && <Columns {...of} />}
  </div>
)

/** What the first lines of a file have, before it is uploaded as a whole; nothing is stored. */
export async function filePreview(file: Buffer, isCut: boolean, text: string): Promise<View> {
  const list = await readList(isCut ? wholeLines(file) : file)
  // A field of several lines may be cut.
  const of = typeof list !== 'string' ? { list, text } : isCut ? undefined : LIST_PROBLEM[list]
  return { title: 'Columns', main: <FilePreview {...(of !== undefined && { of })} /> }
}
