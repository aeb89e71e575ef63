/** Bounds on any document, before anybody asks what it says (ruling 4.3). */
export const documentLimits = {
  /** The root is at depth 1. */
  depthMax: 16,
  elementsMax: 250_000,
  /** UTF-8 bytes of one text, CDATA section, comment or processing instruction, and of all the text of one element; characters of one tag. */
  nodeBytesMax: 65_536,
} as const

const bytesOfUnitMax = 3

/** Whether a text is longer than a node may be. */
export const isOverlong = (text: string): boolean =>
  text.length * bytesOfUnitMax > documentLimits.nodeBytesMax && Buffer.byteLength(text) > documentLimits.nodeBytesMax
