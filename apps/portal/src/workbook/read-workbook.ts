import { bulkSendLimits } from '@gateway/core/bulk-sends'
import { columnsMax } from '../csv-records.ts'
import { storable } from '../forms.ts'
import { numberText, readFormats, type CellFormat } from './cell-formats.ts'
import { WorkbookError, WorkbookParts, type PartHandler, type WorkbookProblem } from './read-part.ts'

/** Maximum number of characters of all cells. A text file has at most as many. */
const charactersMax = 16 * 1024 * 1024
/** Twice the limit of rows, because a header and blank rows do not count. */
const recordsMax = 2 * bulkSendLimits.rowsMax

/**
 * Reads the first visible sheet of a workbook (`.xlsx`, `.xlsm`; ECMA-376) as rows of texts. Formulas have the result
 * that is stored with them; macros are never read. The first row of the sheet is the first record.
 */
export async function recordsOfWorkbook(bytes: Buffer): Promise<readonly (readonly string[])[] | WorkbookProblem> {
  try {
    const parts = await WorkbookParts.open(bytes)
    if (!parts.has('xl/workbook.xml')) return 'not-a-workbook'
    const { sheet, isFrom1904 } = await firstSheet(parts)
    const strings = await sharedStrings(parts)
    const cells = new SheetCells(strings, await readFormats(parts), isFrom1904)
    await parts.read(sheet, cells)
    return cells.records.length === 0 ? 'empty' : cells.records
  } catch (error) {
    if (error instanceof WorkbookError) return error.problem
    throw error
  }
}

/** Returns the path of the first sheet that is not hidden, and whether dates count from 1904. */
async function firstSheet(parts: WorkbookParts): Promise<{ readonly sheet: string; readonly isFrom1904: boolean }> {
  let isFrom1904 = false
  const sheets: { readonly id: string; readonly isVisible: boolean }[] = []
  await parts.read('xl/workbook.xml', {
    open(name, attributes) {
      if (name === 'workbookPr') isFrom1904 = /^(?:1|true)$/.test(attributes.date1904 ?? '')
      if (name !== 'sheet') return
      const id = Object.entries(attributes).find(([key]) => /(?:^|:)id$/.test(key))?.[1] ?? ''
      sheets.push({ id, isVisible: attributes.state === undefined || attributes.state === 'visible' })
    },
  })
  const id = (sheets.find(({ isVisible }) => isVisible) ?? sheets[0])?.id
  let sheet = 'xl/worksheets/sheet1.xml'
  await parts.read('xl/_rels/workbook.xml.rels', {
    open(name, { Id, Target = '' }) {
      if (name === 'Relationship' && Id === id) sheet = Target.startsWith('/') ? Target.slice(1) : `xl/${Target}`
    },
  })
  if (!parts.has(sheet)) throw new WorkbookError('damaged-workbook')
  return { sheet, isFrom1904 }
}

/** Reads the texts that cells refer to by number. Furigana (`rPh`) are not part of a text. */
async function sharedStrings(parts: WorkbookParts): Promise<readonly string[]> {
  const strings: string[] = []
  let own = ''
  let isText = false
  let isPhonetic = false
  await parts.read('xl/sharedStrings.xml', {
    open(name) {
      if (name === 'si') own = ''
      else if (name === 'rPh') isPhonetic = true
      else if (name === 't') isText = !isPhonetic
    },
    text(text) {
      if (isText) own += text
    },
    close(name) {
      if (name === 'si') strings.push(own)
      else if (name === 'rPh') isPhonetic = false
      else if (name === 't') isText = false
    },
  })
  return strings
}

/** Collects the cells of a sheet. Throws as soon as the sheet exceeds a limit. */
class SheetCells implements PartHandler {
  readonly records: string[][] = []
  readonly #strings: readonly string[]
  readonly #formats: readonly CellFormat[]
  readonly #isFrom1904: boolean
  #characters = 0
  /** Number of the present row, from 1; 0 before the first one. */
  #row = 0
  #column = -1
  #type = 'n'
  #format: CellFormat = 'plain'
  #value = ''
  #isValue = false
  #isPhonetic = false

  constructor(strings: readonly string[], formats: readonly CellFormat[], isFrom1904: boolean) {
    this.#strings = strings
    this.#formats = formats
    this.#isFrom1904 = isFrom1904
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'row') this.#openRow(attributes.r)
    else if (name === 'c') {
      this.#column = columnOf(attributes.r) ?? this.#column + 1
      this.#type = attributes.t ?? 'n'
      this.#format = this.#formats[Number(attributes.s ?? -1)] ?? 'plain'
      this.#value = ''
    } else if (name === 'rPh') this.#isPhonetic = true
    else if (name === 'v' || name === 't') this.#isValue = !this.#isPhonetic
  }

  text(text: string): void {
    if (this.#isValue) this.#value += text
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#isValue = false
    else if (name === 'rPh') this.#isPhonetic = false
    else if (name === 'c' && this.#value !== '') this.#add(this.#shown())
  }

  /** Adds the row, and the blank rows before it that the file omits. */
  #openRow(number: string | undefined): void {
    const row = /^[1-9][0-9]{0,6}$/.test(number ?? '') ? Number(number) : this.#row + 1
    if (row > recordsMax) throw new WorkbookError('too-many')
    while (this.records.length < row) this.records.push([])
    this.#row = row
    this.#column = -1
  }

  #shown(): string {
    if (this.#type === 's') return unescaped(this.#strings[Number(this.#value)] ?? '')
    if (this.#type === 'b') return this.#value === '1' ? 'TRUE' : 'FALSE'
    if (this.#type === 'e') return ''
    return this.#type === 'n' ? numberText(this.#value, this.#format, this.#isFrom1904) : unescaped(this.#value)
  }

  #add(text: string): void {
    const record = this.records[this.#row - 1]
    if (record === undefined || text === '') return
    if (this.#column >= columnsMax) throw new WorkbookError('too-many-columns')
    this.#characters += text.length
    if (this.#characters > charactersMax) throw new WorkbookError('large-workbook')
    while (record.length < this.#column) record.push('')
    record[this.#column] = text
  }
}

/** Replaces `_x000D_`, by which workbooks write characters that XML cannot have (ECMA-376, 22.9.2.19). */
const unescaped = (text: string): string =>
  storable(text.replace(/_x([0-9A-F]{4})_/gi, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16))))

/** Returns the index of a column, such as 27 for `AB12`. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0]
  if (letters === undefined) return undefined
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}
