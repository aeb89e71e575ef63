type Rewrite = (id: string) => string | undefined

/** Longer ids are texts and no numbers. */
const digitsMax = 64

const isDecimal = (id: string): boolean => /^[0-9]+$/.test(id) && id.length <= digitsMax
const isHex = (id: string): boolean => /^[0-9a-f]+$/i.test(id) && id.length <= digitsMax

const withoutZeros = (text: string): string => text.replace(/^0+(?=.)/, '')
const padded =
  (width: number): Rewrite =>
  (id) =>
    isHex(id) ? withoutZeros(id).padStart(width, '0') : undefined
const hexOf =
  (width: number, change = (hex: string): string => hex): Rewrite =>
  (id) =>
    isDecimal(id) ? change(BigInt(id).toString(16)).padStart(width, '0') : undefined
const decimalOf =
  (width: number): Rewrite =>
  (id) =>
    isHex(id) ? BigInt(`0x${id}`).toString().padStart(width, '0') : undefined

/**
 * What has to be done with the id in a receipt to get the id of the answer to the submission, the most usual first.
 * `hex`: the receipt has in decimal what the answer had in hexadecimal; `decimal`: the other way round; a number:
 * filled up with zeros to this width.
 */
const FORMS = {
  'as-is': (id) => id,
  hex: hexOf(0),
  HEX: hexOf(0, (hex) => hex.toUpperCase()),
  decimal: decimalOf(0),
  'without-zeros': withoutZeros,
  lower: (id) => id.toLowerCase(),
  upper: (id) => id.toUpperCase(),
  '8': padded(8),
  '10': padded(10),
  '16': padded(16),
  'decimal-10': decimalOf(10),
  'hex-8': hexOf(8),
  'HEX-8': hexOf(8, (hex) => hex.toUpperCase()),
  'hex-10': hexOf(10),
  'HEX-10': hexOf(10, (hex) => hex.toUpperCase()),
  'hex-16': hexOf(16),
  'HEX-16': hexOf(16, (hex) => hex.toUpperCase()),
} as const satisfies Record<string, Rewrite>

export type IdForm = keyof typeof FORMS

export const idForms: readonly IdForm[] = (Object.keys(FORMS) as IdForm[]).toSorted((a, b) => order(a) - order(b))

/** Keys that are numbers come first in an object, whatever their place. */
function order(form: IdForm): number {
  return /^\d+$/.test(form) ? 1 : form === 'as-is' ? -1 : 0
}

/**
 * The id of the answer if the receipt's is written in this form; undefined: it cannot be. Ids are texts of any length.
 */
export const inForm = (id: string, form: IdForm): string | undefined => FORMS[form](id)

/** The ids that the answer may have had besides the one that was tried, each once, with its form. */
export function otherForms(id: string, tried = id): readonly { readonly form: IdForm; readonly reference: string }[] {
  const seen = new Set([tried])
  return idForms.flatMap((form) => {
    const reference = inForm(id, form)
    if (reference === undefined || seen.has(reference)) return []
    seen.add(reference)
    return [{ form, reference }]
  })
}
