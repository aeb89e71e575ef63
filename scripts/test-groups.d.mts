export const groups: Readonly<Record<string, readonly string[]>>
/** The files of `tests` among them. */
export const grouped: readonly string[]
