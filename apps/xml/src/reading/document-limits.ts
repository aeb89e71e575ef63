/** Bounds on any document, whatever its content (ruling 4.3). */
export const documentLimits = {
  /** The root has depth 1. */
  depthMax: 16,
  elementsMax: 250_000,
  /** UTF-8 bytes of one text, CDATA section, comment or processing instruction, and of the text of one element; characters of one tag. */
  nodeBytesMax: 65_536,
} as const

const bytesOfUnitMax = 3

/** Whether a text is longer than a node may be. */
export const isOverlong = (text: string): boolean =>
  text.length * bytesOfUnitMax > documentLimits.nodeBytesMax && Buffer.byteLength(text) > documentLimits.nodeBytesMax
