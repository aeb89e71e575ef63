export const groups: Readonly<Record<string, readonly string[]>>
export const furtherGroups: Readonly<Record<string, readonly string[]>>
export const alsoInPart: readonly string[]
export const quickGroups: readonly string[]
/** Test files in `tests` that belong to a group. */
export const grouped: readonly string[]
export const furtherGroupOf: (path: string) => string | undefined
