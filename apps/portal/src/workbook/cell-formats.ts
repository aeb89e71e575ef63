import type { WorkbookParts } from './read-part.ts'

/** How numbers of a cell are shown: as they are, as a date, or with leading zeros up to a number of digits. */
export type CellFormat = 'plain' | 'date' | { readonly digits: number }

/** Formats of numbers that a workbook need not define (ECMA-376, 18.8.30) and that show dates or times. */
const isDateId = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58)

/** Returns the format for a code such as `dd.mm.yyyy` or `0000000000`. */
export function formatOfCode(code: string): CellFormat {
  if (/^0{2,15}$/.test(code)) return { digits: code.length }
  const bare = code
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .replace(/general/gi, '')
  return /[dmyhs]/i.test(bare) ? 'date' : 'plain'
}

/** Reads the formats of cells by the number of their style. */
export async function readFormats(parts: WorkbookParts): Promise<readonly CellFormat[]> {
  const codes = new Map<number, string>()
  const formats: CellFormat[] = []
  let isOfCells = false
  await parts.read('xl/styles.xml', {
    open(name, attributes) {
      if (name === 'numFmt') codes.set(Number(attributes.numFmtId), attributes.formatCode ?? '')
      else if (name === 'cellXfs') isOfCells = true
      else if (name === 'xf' && isOfCells) {
        const id = Number(attributes.numFmtId ?? 0)
        const code = codes.get(id)
        formats.push(code === undefined ? (isDateId(id) ? 'date' : 'plain') : formatOfCode(code))
      }
    },
    close(name) {
      if (name === 'cellXfs') isOfCells = false
    },
  })
  return formats
}

const dayMs = 24 * 3600 * 1000
/** Days from the first day of spreadsheets (30 December 1899) to 1 January 1970, and those of 1904 workbooks. */
const epochDays = { from1900: 25_569, from1904: 24_107 } as const

/** Formats a date of a spreadsheet, such as `2026-11-25`, `2026-11-25 14:02` or `14:02`. */
function formatDate(days: number, isFrom1904: boolean): string {
  const minutes = Math.round(days * 24 * 60)
  const at = new Date(minutes * 60_000 - (isFrom1904 ? epochDays.from1904 : epochDays.from1900) * dayMs)
  if (Number.isNaN(at.getTime())) return String(days)
  const [date = '', time = ''] = at.toISOString().split('T')
  const minute = time.slice(0, 5)
  if (days >= 0 && days < 1) return minute
  return minute === '00:00' ? date : `${date} ${minute}`
}

/**
 * Returns the text of a cell with a number. Spreadsheets store 15 significant digits, and `2.782E+10` for a number that
 * they show as 27820000000.
 */
export function numberText(stored: string, format: CellFormat, isFrom1904: boolean): string {
  const value = Number(stored)
  if (stored.trim() === '' || !Number.isFinite(value)) return stored
  if (format === 'date') return formatDate(value, isFrom1904)
  const plain =
    Number.isInteger(value) && Math.abs(value) < 1e21 ? BigInt(value).toString() : String(+value.toPrecision(15))
  return format === 'plain' || !/^[0-9]+$/.test(plain) ? plain : plain.padStart(format.digits, '0')
}
