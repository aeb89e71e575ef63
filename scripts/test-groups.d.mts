export const groups: Readonly<Record<string, readonly string[]>>
export const furtherGroups: Readonly<Record<string, readonly string[]>>
export const alsoInPart: readonly string[]
export const quickGroups: readonly string[]
/** The files of `tests` among them. */
export const grouped: readonly string[]
