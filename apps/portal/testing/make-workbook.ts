import { crc32, deflateRawSync } from 'node:zlib'

/** Size of an entry that the archive claims in place of the real one, by name. */
type ClaimedSizes = Readonly<Record<string, number>>

/** Makes a ZIP archive (APPNOTE 6.3.10, 4.3) of these entries. */
export function makeArchive(entries: Readonly<Record<string, string>>, claimed: ClaimedSizes = {}): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(entries)) {
    const content = Buffer.from(text)
    const packed = deflateRawSync(content)
    // Version, flags, method, time, date, checksum, sizes, length of the name, length of the extra field.
    const head = Buffer.alloc(26)
    head.writeUInt16LE(20, 0)
    head.writeUInt16LE(8, 4)
    head.writeUInt32LE(crc32(content), 10)
    head.writeUInt32LE(packed.length, 14)
    head.writeUInt32LE(claimed[name] ?? content.length, 18)
    head.writeUInt16LE(Buffer.byteLength(name), 22)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    const local = Buffer.concat([Buffer.from('504b0304', 'hex'), head, Buffer.from(name), packed])
    directory.push(Buffer.concat([Buffer.from('504b01021400', 'hex'), head, place, Buffer.from(name)]))
    locals.push(local)
    offset += local.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(directory.length, 4)
  end.writeUInt16LE(directory.length, 6)
  end.writeUInt32LE(listed.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, listed, Buffer.from('504b0506', 'hex'), end])
}

export interface Workbook {
  /** XML of the rows of the sheet. */
  readonly rows: string
  /** Shared strings, each as XML within `si`. */
  readonly strings?: readonly string[]
  /** Codes of the formats of numbers; the first one is style 1. */
  readonly formats?: readonly string[]
  readonly is1904?: boolean
  /** Further entries of the archive. */
  readonly entries?: Readonly<Record<string, string>>
  readonly claimed?: ClaimedSizes
}

/** Makes a workbook whose second sheet is the first visible one, as Excel stores it. */
export function makeWorkbook({ rows, strings = [], formats = [], is1904 = false, entries, claimed }: Workbook): Buffer {
  const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
  const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
  const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  return makeArchive(
    {
      '[Content_Types].xml': `${head}<Types/>`,
      'xl/workbook.xml': `${head}<workbook ${main} xmlns:r="${relations}"><workbookPr date1904="${is1904 ? 1 : 0}"/>
        <sheets><sheet name="Old" sheetId="1" state="hidden" r:id="rId1"/>
        <sheet name="List" sheetId="2" r:id="rId2"/></sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': `${head}<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/>
        <Relationship Id="rId2" Target="worksheets/sheet2.xml"/></Relationships>`,
      'xl/styles.xml': `${head}<styleSheet ${main}><numFmts>${formats
        .map((code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code}"/>`)
        .join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${formats
        .map((_code, at) => `<xf numFmtId="${164 + at}"/>`)
        .join('')}<xf numFmtId="14"/></cellXfs></styleSheet>`,
      'xl/sharedStrings.xml': `${head}<sst ${main}>${strings.map((one) => `<si>${one}</si>`).join('')}</sst>`,
      'xl/worksheets/sheet1.xml': `${head}<worksheet ${main}><sheetData/></worksheet>`,
      'xl/worksheets/sheet2.xml': `${head}<worksheet ${main}><sheetData>${rows}</sheetData></worksheet>`,
      ...entries,
    },
    claimed,
  )
}
