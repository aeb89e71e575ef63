/** A value echoed in a list, which must not look like the end of a field or of an item (ruling 3.6). */
export const echoed = (value: string): string =>
  /[&;=%\p{Cc}]/u.test(value) ? value.replace(/[&;=%\p{Cc}]/gu, encodeURIComponent) : value

/** Every item ends with `&`, the last one too; an empty list is an empty text (ruling 3.2). */
export const listAnswer = (items: readonly string[]): string => items.map((item) => `${item}&`).join('')
