const names = (process.env['TEST_GROUPS'] ?? '').split(',')

/** True if this run has the group of this name of `scripts/test-groups.mjs`. */
export const runsGroup = (name: string): boolean => names.includes('all') || names.includes(name)
