import { readNumberIn, type CallingCode } from '@gateway/core/messages'

/** Column that most likely has the numbers, and whether this choice is certain. If it is not, a person must choose. */
export interface ColumnChoice {
  /** Index from 0, or undefined if no column has anything like a number. */
  readonly column: number | undefined
  readonly isCertain: boolean
}

/** Number of rows, spread over the whole file, that are examined. */
const sampleRows = 200

/** Prefixes of words in a heading, without accents, in seven languages. See docs/portal.md. */
const headWords = {
  mobile: `mobil mobiel movil cell celular celul handy gsm msisdn telemovel portable selfoon sel whatsapp sms
    جوال الجوال محمول المحمول موبايل الموبايل`,
  phone: `phone telephone telefon telefoon telefono telefone tel fon foon rufnummer handset
    هاتف الهاتف تلفون التلفون`,
  other: `account acct konto customer client kunde klient cliente order auftrag bestell pedido invoice rechnung faktur
    facture factura fatura ref policy passport pass vat tax steuer iban card kart carte tarjeta zip plz post code kode
    codigo date datum fecha data birth geburt amount sum betrag bedrag montant total price preis prix precio balance
    saldo serial imei imsi iccid sku barcode ean meter fax ident rekening cuenta conta compte matric nif nie cpf cnpj
    dni ssn member mitglied employee personal staff student حساب الحساب هوية الهوية عميل العميل`,
} as const
/** Headings that mean "number" without saying which kind of number. */
const numberHeads = new Set(
  'number numbers nummer nommer numero numeros to recipient recipients empfanger destinataire رقم الرقم'.split(' '),
)
const otherWords = new Set(['id', 'nr', 'uid', 'guid', 'uuid'])

type Meaning = 'mobile' | 'phone' | 'other' | 'unknown'

const listOf = (words: string): readonly string[] => words.split(/\s+/)
const beginnings = (['mobile', 'phone', 'other'] as const).map(
  (meaning) => [meaning, listOf(headWords[meaning])] as const,
)

/**
 * Returns what a heading names: 'mobile' for `Cell no.`, 'other' for `Account Number`, 'unknown' for a word of another
 * language.
 */
export function meaningOf(head: string): Meaning {
  const plain = head
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
  const words: readonly string[] = plain.match(/\p{L}+/gu) ?? []
  for (const [meaning, starts] of beginnings)
    if (words.some((word) => starts.some((start) => word.startsWith(start)))) return meaning
  if (words.some((word) => otherWords.has(word))) return 'other'
  return numberHeads.has(words.join(' ')) ? 'phone' : 'unknown'
}

interface Column {
  readonly at: number
  readonly meaning: Meaning
  /** Share of the filled cells that can be read as numbers. */
  readonly readable: number
  /**
   * Share of the filled cells that look like numbers. National and rounded numbers count too, although they are refused
   * later with a reason.
   */
  readonly similar: number
}

type Rows = readonly (readonly string[])[]

function examine(head: string, at: number, sample: Rows, country: CallingCode | undefined): Column {
  const reads = sample.map((fields) => readNumberIn(country, fields[at] ?? ''))
  const filled = reads.filter(({ unread }) => unread !== 'no-number')
  const readable = filled.filter(({ number }) => number !== undefined).length
  const similar = filled.filter(({ unread }) => unread === 'national-number' || unread === 'scientific-notation').length
  const all = Math.max(1, filled.length)
  return { at, meaning: meaningOf(head), readable: readable / all, similar: (readable + similar) / all }
}

/**
 * Chooses the column of the numbers by heading and content together. The choice is certain if at least half of the
 * column's cells are numbers and no other such column has a heading that could mean the recipients.
 */
export function chooseColumn(heads: readonly string[], body: Rows, country: CallingCode | undefined): ColumnChoice {
  const filled = body.filter((fields) => fields.some((field) => field.trim() !== ''))
  const step = Math.max(1, Math.ceil(filled.length / sampleRows))
  const sample = filled.filter((_, at) => at % step === 0)
  const columns = heads.map((head, at) => examine(head, at, sample, country))
  const of = (meaning: Meaning): readonly Column[] => columns.filter((column) => column.meaning === meaning)
  const isNamed = ({ meaning }: Column): boolean => meaning === 'mobile' || meaning === 'phone'
  const numeric = columns.filter((column) => (isNamed(column) ? column.similar : column.readable) >= 0.5)
  const [mobile, phone, unknown] = (['mobile', 'phone', 'unknown'] as const).map((meaning) =>
    of(meaning).filter((column) => numeric.includes(column)),
  )
  const likely = [mobile, phone, unknown, numeric].find((some) => some !== undefined && some.length > 0)
  if (likely === undefined) return leastBad(columns)
  const rivals = [mobile, phone, ...(likely === mobile ? [] : [unknown])].flatMap((some) => some ?? [])
  // A column whose heading names something else is never chosen without asking a person.
  return { column: mostReadable(likely).at, isCertain: rivals.length === 1 || heads.length === 1 }
}

const mostReadable = (columns: readonly Column[]): Column =>
  columns.reduce((best, column) => (column.readable > best.readable ? column : best))

/**
 * Returns the column with the most numbers if no column consists mostly of numbers. If there are other columns, a
 * person must confirm it.
 */
function leastBad(columns: readonly Column[]): ColumnChoice {
  const possible = columns.filter(({ readable, similar }) => readable > 0 || similar > 0)
  const [first] = possible
  if (first === undefined) return { column: undefined, isCertain: false }
  return { column: mostReadable(possible).at, isCertain: columns.length === 1 }
}
