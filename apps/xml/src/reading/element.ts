import { trimWhiteSpace } from '@gateway/wire'

/** What a request wants to know of an element: nothing is kept of all others. `D` collects what is read. */
export interface Element<D> {
  /** Called when it opens. */
  readonly open?: (draft: D) => void
  /** Called when it closes, with the text that is directly in it, `''` if there is none. */
  readonly text?: (draft: D, text: string) => void
  /** The elements in it that matter, by name. An element with a text has none. */
  readonly inside?: ReadonlyMap<string, Element<D>>
}

/** By name; letter case matters. */
export const elements = <D>(byName: Readonly<Record<string, Element<D>>>): ReadonlyMap<string, Element<D>> =>
  new Map(Object.entries(byName))

/** An element with a text around which white space, as XML knows it, does not count (ruling 4.2). */
export const trimmed = <D>(take: (draft: D, text: string) => void): Element<D> => ({
  text: (draft, text) => take(draft, trimWhiteSpace(text)),
})
