import { trimWhiteSpace } from '@gateway/wire'

/** How an element is read into the draft `D`. Elements without a reader are ignored. */
export interface Element<D> {
  /** Called when it opens. */
  readonly open?: (draft: D) => void
  /** Called when it closes, with its own text, `''` if it has none. */
  readonly text?: (draft: D, text: string) => void
  /** Readers of its child elements, by name. An element with `text` has none. */
  readonly inside?: ReadonlyMap<string, Element<D>>
}

/** Readers by element name; letter case matters. */
export const elements = <D>(byName: Readonly<Record<string, Element<D>>>): ReadonlyMap<string, Element<D>> =>
  new Map(Object.entries(byName))

/** An element whose text is trimmed of XML white space (ruling 4.2). */
export const trimmed = <D>(take: (draft: D, text: string) => void): Element<D> => ({
  text: (draft, text) => take(draft, trimWhiteSpace(text)),
})
