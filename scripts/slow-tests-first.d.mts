/** Test files of packages and apps that `tests/together` leaves out. */
export const alone: readonly string[]
/** Sorts test files by `path`. */
export default class SlowTestsFirst {
  sort<Test extends { readonly path: string }>(tests: readonly Test[]): Test[]
}
