/** Test files of packages and apps that `tests/together` leaves out. */
export const alone: readonly string[]
