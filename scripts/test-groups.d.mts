export const groups: Readonly<Record<string, readonly string[]>>
export const quickGroups: readonly string[]
/** The files of `tests` among them. */
export const grouped: readonly string[]
