import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const page = readFileSync(fileURLToPath(new URL('../../../docs/operations/json.md', import.meta.url)), 'utf8')

/** Types of the names in JSON documents, as docs/operations/json.md describes them. */
export const types: ReadonlyMap<string, string> = new Map(
  Array.from(page.matchAll(/^\| (.+?) +\| (\w+) +\|/gm)).flatMap(([, names = '', type = '']) =>
    Array.from(names.matchAll(/`(\w+)`/g), ([, name = '']) => [name, type] as const),
  ),
)

const isTime = (value: unknown): boolean =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)

const fits: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: (value) => Number.isSafeInteger(value) && (value as number) > 0,
  count: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  code: (value) => Number.isSafeInteger(value),
  rate: (value) => typeof value === 'number' && value >= 0,
  credits: (value) => typeof value === 'number' && Math.abs(value * 10 - Math.round(value * 10)) < 1e-6,
  time: isTime,
  text: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && !Array.isArray(value),
  list: (value) => Array.isArray(value),
}

/**
 * Yields every name and value of a document, at any depth. Omits the fields of a PDU, which SMPP names, the carriers,
 * which have a schema of their own, and the fields of audited changes.
 */
function* members(value: unknown): Iterable<readonly [name: string, value: unknown]> {
  if (Array.isArray(value)) for (const one of value as readonly unknown[]) yield* members(one)
  else if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) {
      yield [name, inner]
      if (name !== 'fields' && name !== 'document' && name !== 'detail') yield* members(inner)
    }
}

/** Verbs of commands that change nothing. */
const reading = new Set([
  'list',
  'show',
  'status',
  'find',
  'explain',
  'ledger',
  'verify',
  'attempts',
  'check',
  'versions',
  'top',
  'receipts',
  'doctor',
  'watch',
])

/**
 * Throws if the document that a command printed has a name that is missing in docs/operations/json.md, or a shape or
 * type that differs from that page.
 */
export function checkDocument(args: readonly string[], text: string): void {
  const document = JSON.parse(text) as Readonly<Record<string, unknown>>
  const failed = (why: string): never => {
    throw new Error(`${args.join(' ')}: ${why}: ${text.slice(0, 300)}`)
  }
  if (
    args.slice(0, 2).some((word) => reading.has(word)) &&
    !(Array.isArray(document['rows']) && typeof document['total'] === 'number')
  )
    failed('not {rows, total}')
  for (const [name, value] of members(document)) {
    const type = types.get(name) ?? failed(`the page does not have the name ${name}`)
    if (value !== null && !(fits[type] ?? failed(`the page has no type ${type}`))(value))
      failed(`${name} is no ${type}`)
  }
}
