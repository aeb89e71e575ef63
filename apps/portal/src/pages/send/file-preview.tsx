import { Choice } from '../../components.tsx'
import { ListFields } from '../../list-fields.tsx'
import type { View } from '../../page.ts'
import { columnsMax } from '../../csv-records.ts'
import { readList, wholeLines, type ListProblem, type RecipientList } from '../../read-list.ts'

const saveAsCsv = 'Open it, choose “Save as” and the type “CSV UTF-8 (comma delimited)”, and give that file.'

export const LIST_PROBLEM: Readonly<Record<ListProblem, string>> = {
  'no-bytes': 'The file is empty: it has no bytes at all. Save it again, and look whether its list is in it.',
  workbook: `The file is a workbook (.xlsx, .ods or .numbers), of which only the list can be read. ${saveAsCsv}`,
  'old-workbook': `The file is a document of an old Office program (.xls or .doc), not a list. ${saveAsCsv}`,
  archive: 'The file is an archive (such as .zip or .gz). Unpack it, and give the list that is in it.',
  pdf: 'The file is a PDF. Ask for the list as a spreadsheet, or save it as CSV where it was made.',
  picture: 'The file is a picture. Ask for the list as a spreadsheet, or save it as CSV where it was made.',
  page: `The file is a web page or XML, even if it is called .xls. ${saveAsCsv}`,
  contacts: 'The file has contacts of a phone (vCard). Import them into a spreadsheet, and save that as CSV.',
  binary: `The file is not a text, so no list can be read from it. ${saveAsCsv}`,
  empty: 'There is nothing in the file: all of its rows are blank.',
  'no-rows': 'The file has a first row with names of columns, and no row after it.',
  'too-many': 'The file has more than 100 000 rows. Divide it into several files.',
  'too-many-columns': `The file has more than ${columnsMax} columns.`,
  broken: 'The file is no list of comma-separated values: a quote is not closed, or a row is very long.',
  'no-numbers': 'No column of the file has mobile numbers. They are written with the country code.',
}

/** Problems that the first lines of a file show as well as the whole. */
const seenAtOnce = new Set<ListProblem>([
  ...(['no-bytes', 'workbook', 'old-workbook', 'archive', 'pdf', 'picture', 'page', 'contacts', 'binary'] as const),
])

interface Previewed {
  readonly list: RecipientList
  readonly text: string
}

function Columns({ list: { columns, numberColumn, isCertain, rows }, text }: Previewed) {
  const list = { columns, rows: rows.slice(0, 1) }
  return (
    <>
      <Choice
        name="column"
        label="The numbers are in the column"
        value={isCertain ? String(numberColumn) : ''}
        options={[
          ...(isCertain ? [] : [['', 'Choose the column…'] as const]),
          ...columns.map((name, at) => [String(at), name] as const),
        ]}
      />
      {!isCertain && <p class="hint">Several columns could be the numbers. If you choose none, the next page asks.</p>}
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
  const of = typeof list !== 'string' ? { list, text } : isCut && !seenAtOnce.has(list) ? undefined : LIST_PROBLEM[list]
  return { title: 'Columns', main: <FilePreview {...(of !== undefined && { of })} /> }
}
