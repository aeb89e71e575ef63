import { inForm, type IdForm } from './id-forms.ts'

/** The carrier's ids of the further parts of accepted messages, of which stores know the first one only. */
export interface FurtherParts {
  add(references: readonly string[]): void
  /** The id of the first part, if a receipt with this id is of a further one. */
  firstOf(id: string, form: IdForm | undefined): string | undefined
}

/** So many are remembered: the newest. */
const partsMax = 200_000

export function createFurtherParts(): FurtherParts {
  const firsts = new Map<string, string>()
  return {
    add([first = '', ...others]) {
      for (const other of others) firsts.set(other, first)
      for (const oldest of firsts.keys()) {
        if (firsts.size <= partsMax) return
        firsts.delete(oldest)
      }
    },
    firstOf: (id, form = 'as-is') => firsts.get(inForm(id, form) ?? id),
  }
}
