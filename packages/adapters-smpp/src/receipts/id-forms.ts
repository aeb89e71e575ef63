type Rewrite = (id: string) => string | undefined

/** Maximum number of digits of an id that is converted; longer ids are treated as text. */
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
 * Conversions from the id in a receipt to the id in the submit_sm_resp, the most usual first. `hex`: the receipt has a
 * decimal id and the response the same id in hexadecimal; `decimal`: the reverse; a number: the id is padded with zeros
 * to this width.
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

/** Rank of a form. Needed because JavaScript lists numeric keys of an object first. */
function order(form: IdForm): number {
  return /^\d+$/.test(form) ? 1 : form === 'as-is' ? -1 : 0
}

/** Converts the id of a receipt to the id of the response, or returns undefined if the id does not fit the form. */
export const inForm = (id: string, form: IdForm): string | undefined => FORMS[form](id)

/** Returns each other id that the response may have had, with its form. `tried` is left out. */
export function otherForms(id: string, tried = id): readonly { readonly form: IdForm; readonly reference: string }[] {
  const seen = new Set([tried])
  return idForms.flatMap((form) => {
    const reference = inForm(id, form)
    if (reference === undefined || seen.has(reference)) return []
    seen.add(reference)
    return [{ form, reference }]
  })
}
