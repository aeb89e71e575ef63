/** An array of numbers, or of text that is known to be digits; undefined is null. */
export const arrayOfNullable = (values: readonly (number | string | undefined)[]): string =>
  `{${values.map((value) => value ?? 'null').join(',')}}`

/** An array of any texts without U+0000; undefined is null. */
export const arrayOfTexts = (values: readonly (string | undefined)[]): string => `{${values.map(quoted).join(',')}}`

const quoted = (value: string | undefined): string => {
  if (value === undefined) return 'null'
  return `"${/["\\]/.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`
}
