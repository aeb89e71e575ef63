import { Choice } from '../../components.tsx'
import { ListFields } from '../../list-fields.tsx'
import type { HolderVisit, View } from '../../page.ts'
import { columnsMax } from '../../csv-records.ts'
import { readList, wholeLines, type ListProblem, type RecipientList } from '../../read-list.ts'

const saveAsWorkbook =
  'Open it, choose “Save as” and the type “Excel workbook (.xlsx)” without a password, and upload that file.'
const saveAsCsv = 'Open it, choose “Save as” and the type “CSV UTF-8 (comma delimited)”, and upload that file.'

export const LIST_PROBLEM: Readonly<Record<ListProblem, string>> = {
  'no-bytes': 'The file is empty: it has no bytes at all. Save it again, and check that it contains the list.',
  workbook: `The file is a document or a workbook that cannot be read (such as .ods or .numbers). ${saveAsWorkbook}`,
  'damaged-workbook': `The workbook is damaged, or has no sheet. Open it, save it again, and upload it once more.`,
  'large-workbook': `The workbook is too large once it is unpacked. Delete other sheets and columns, or save it as CSV.`,
  'old-workbook': `The file is a document of an old Office program (.xls or .doc), or has a password. ${saveAsWorkbook}`,
  archive: 'The file is an archive (such as .zip or .gz). Unpack it, and upload the list inside it.',
  pdf: 'The file is a PDF. Ask for the list as a spreadsheet, or save it as CSV where it was made.',
  picture: 'The file is a picture. Ask for the list as a spreadsheet, or save it as CSV where it was made.',
  page: `The file is a web page or XML, even if its name ends in .xls. ${saveAsCsv}`,
  contacts: 'The file contains phone contacts (vCard). Import them into a spreadsheet, and save that as CSV.',
  binary: `The file is not a text, so no list can be read from it. ${saveAsCsv}`,
  empty: 'All rows of the file are blank.',
  'no-rows': 'The file has a row of column names, but no rows after it.',
  'too-many': 'The file has more than 100 000 rows. Divide it into several files.',
  'too-many-columns': `The file has more than ${columnsMax} columns.`,
  broken: 'The file is not a list of comma-separated values: a quote is not closed, or a row is too long.',
  'no-numbers': 'No column of the file has mobile numbers. Numbers must have the country code.',
}

/** Problems that can be recognized from the first lines of a file. */
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
        label="Column of the numbers"
        value={isCertain ? String(numberColumn) : ''}
        options={[
          ...(isCertain ? [] : [['', 'Choose the column…'] as const]),
          ...columns.map((name, at) => [String(at), name] as const),
        ]}
      />
      {!isCertain && (
        <p class="hint">Several columns could be the numbers. If you do not choose one, the next page asks for it.</p>
      )}
      <div data-island="fields" data-list={JSON.stringify(list)}>
        <ListFields of={list} text={text} />
      </div>
    </>
  )
}

/** Area below the file field, which a script fills once a file is chosen. */
export const FilePreview = ({ of }: { readonly of?: string | Previewed }) => (
  <div id="preview" data-island="file">
    {typeof of === 'string' ? <p class="problem">{of}</p> : of !== undefined && <Columns {...of} />}
  </div>
)

/** Returns the preview of a file from its first lines. Nothing is stored. */
export async function filePreview({ account }: HolderVisit, file: Buffer, isCut: boolean, text: string): Promise<View> {
  const list = await readList(isCut ? wholeLines(file) : file, account.callingCode)
  // The last field may be cut, so a problem counts only if the first lines are enough to recognize it.
  const of = typeof list !== 'string' ? { list, text } : isCut && !seenAtOnce.has(list) ? undefined : LIST_PROBLEM[list]
  return { title: 'Columns', main: <FilePreview {...(of !== undefined && { of })} /> }
}
