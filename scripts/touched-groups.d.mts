export const table: readonly (readonly [beginning: string, groups: readonly string[]])[]
/** Returns the groups that a change of these paths touches. */
export function groupsOf(paths: readonly string[]): readonly string[]
